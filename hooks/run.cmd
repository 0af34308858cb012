@echo off
rem Starts dist\atlas.cjs with the first node it can find. A missing node never fails a host's session.
setlocal DisableDelayedExpansion
if defined NODE_OPTIONS set "ATLAS_NODE_OPTIONS=%NODE_OPTIONS%"
if defined NODE_PATH set "ATLAS_NODE_PATH=%NODE_PATH%"
set "NODE_OPTIONS="
set "NODE_PATH="
if "%~1"=="hook" set "NODE_EXTRA_CA_CERTS="
set "ATLAS_FOUND="
if defined ATLAS_NODE if exist "%ATLAS_NODE%" set "ATLAS_FOUND=%ATLAS_NODE%"
if not defined ATLAS_FOUND for %%I in (node.exe) do if not "%%~$PATH:I"=="" set "ATLAS_FOUND=%%~$PATH:I"
if not defined ATLAS_FOUND if defined NVM_SYMLINK if exist "%NVM_SYMLINK%\node.exe" set "ATLAS_FOUND=%NVM_SYMLINK%\node.exe"
if not defined ATLAS_FOUND if exist "%ProgramFiles%\nodejs\node.exe" set "ATLAS_FOUND=%ProgramFiles%\nodejs\node.exe"
if not defined ATLAS_FOUND if exist "%LOCALAPPDATA%\Volta\bin\node.exe" set "ATLAS_FOUND=%LOCALAPPDATA%\Volta\bin\node.exe"
if not defined ATLAS_FOUND if exist "%APPDATA%\fnm\aliases\default\node.exe" set "ATLAS_FOUND=%APPDATA%\fnm\aliases\default\node.exe"
if not defined ATLAS_FOUND if "%~1"=="hook" if not "%~5"=="SessionStart" exit /b 0
if not defined ATLAS_FOUND echo atlas: no node found; install Node 20 or newer, or set ATLAS_NODE 1>&2
if not defined ATLAS_FOUND if "%~1"=="hook" exit /b 0
if not defined ATLAS_FOUND exit /b 4
"%ATLAS_FOUND%" "%~dp0..\dist\atlas.cjs" %*
exit /b %ERRORLEVEL%
