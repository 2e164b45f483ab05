#!/bin/bash
# Errors are explained by code, by name, by a piece of their text or by the whole message, in both languages.
warplight explain xid 79
echo ---
warplight explain 79 --lang zh
echo ---
warplight explain "error 43"
echo ---
warplight explain no kernel image --lang zh
echo ---
warplight explain "RuntimeError: CUDA error: device-side assert triggered" | head -n 3
echo ---
warplight explain cudaErrorSystemNotReady | head -n 3
echo ---
warplight explain cuda 12.8
warplight explain sm_61 | head -n 3
warplight explain sw_power_cap | head -n 1
warplight explain xid 9999
