#!/bin/bash
# A page is shown without its Markdown marks and inside the terminal; every finding has one, and nothing else.
warplight explain idle-launch-bound >page
head -n 1 page
grep '^#\|`\|\*\*' page
python3 "$CLI/too_wide.py" 100 <page
COLUMNS=60 warplight explain idle-launch-bound --lang zh | grep -v '^    ' | # code keeps its lines
    python3 "$CLI/too_wide.py" 60
ids() { grep -o '^[a-z0-9-]\+' | sort; }
diff <(warplight explain --list | sed '/^$/q' | ids) <(warplight report --list-findings | ids)
