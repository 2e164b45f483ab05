#!/bin/bash
touch trace.json
warplight trace.json
