@echo off
"%~dp0..\hooks\run.cmd" %*
