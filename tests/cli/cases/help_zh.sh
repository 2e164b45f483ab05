#!/bin/bash
export WARPLIGHT_LANG=zh
warplight help
warplight help report
