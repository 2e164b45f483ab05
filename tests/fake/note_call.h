/* Both halves of the fake CUPTI write what the library under test switches to the file that FAKE_CUPTI_CALLS
 * names, a line a call. */
#ifndef WARPLIGHT_FAKE_NOTE_CALL_H
#define WARPLIGHT_FAKE_NOTE_CALL_H

void note_call(const char *name, int argument);

#endif
