#!/bin/bash
warplight explain idle-launch-bound >page
grep -c . page
grep '^#\|`\|\*\*' page
python3 "$CLI/too_wide.py" 100 <page
warplight explain --list | grep -c .
COLUMNS=60 warplight explain idle-launch-bound --lang zh | grep -v "^    " | python3 "$CLI/too_wide.py" 60 # code keeps its lines
