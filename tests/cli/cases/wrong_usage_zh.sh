#!/bin/bash
export LANG=zh_CN.UTF-8 LC_ALL=
warplight repotr x
warplight report --section kernel x
warplight report
warplight report missing.json
