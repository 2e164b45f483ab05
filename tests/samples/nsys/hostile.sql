-- What a forger could write: views and triggers named like tables, a recursive view, types that cannot be, NULLs,
-- extreme numbers, a generated column that computes, and rows that are whole all the same.
CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value);
INSERT INTO StringIds VALUES (-9223372036854775808, 'lowest'), (9223372036854775807, 'highest'), (5, NULL), (6, x'00ff41'),
  (7, 'with' || char(0) || 'nul'), (8, 12.5), (9, char(27) || '[31mred' || char(10));
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start, end, deviceId, contextId, streamId, correlationId, globalPid, demangledName,
  registersPerThread, gridX, gridY, gridZ, blockX, blockY, blockZ,
  expensive AS (hex(zeroblob(100000000))));
INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES
  (1000, 2000, 0, 1, 7, 1, 16777216, 9223372036854775807, 'many', -5, 1, 1, 99999999999, 1, 1),
  ('soon', 2000, 0, 1, 7, 2, 16777216, 5, 1, 1, 1, 1, 1, 1, 1),
  (1000, x'01', 0, 1, 7, 3, 16777216, 5, 1, 1, 1, 1, 1, 1, 1),
  (NULL, 2000, 0, 1, 7, 4, 16777216, 5, 1, 1, 1, 1, 1, 1, 1),
  (1000, 2000, 'gpu', 1, 7, 5, 16777216, 5, 1, 1, 1, 1, 1, 1, 1),
  (3000.0, 4000.0, 9223372036854775807, -9223372036854775808, -1, 9223372036854775807, -1, -9223372036854775808, 1, 1, 1, 1, 1, 1, 1),
  (-9223372036854775808, 9223372036854775807, 0, 1, 7, -1, 16777216, 6, 1, 1, 1, 1, 1, 1, 1),
  (5000, 6000, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
  (6000, 7000, 0, 1, 7, 6, 16777216, 'name in place', 1, 1, 1, 1, 1, 1, 1);
CREATE TABLE TARGET_INFO_SESSION_START_TIME (utcEpochNs);
INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES (1);
CREATE TABLE real_calls (start, end, globalTid, correlationId, nameId);
INSERT INTO real_calls VALUES (1, 2, 16777217, 1, 5);
CREATE VIEW CUPTI_ACTIVITY_KIND_RUNTIME AS SELECT * FROM real_calls;
CREATE VIEW NVTX_EVENTS AS WITH RECURSIVE endless(start) AS (SELECT 1 UNION ALL SELECT start + 1 FROM endless)
  SELECT start, start + 1 AS end, 59 AS eventType, 'x' AS text, 16777217 AS globalTid FROM endless;
CREATE TRIGGER CUPTI_ACTIVITY_KIND_MEMSET AFTER INSERT ON real_calls BEGIN DELETE FROM real_calls; END;
CREATE TABLE OSRT_API (start INTEGER PRIMARY KEY, end, globalTid, nameId) WITHOUT ROWID;
INSERT INTO OSRT_API VALUES (1, 2, 16777217, 5);
CREATE TABLE PROFILER_OVERHEAD (start, end, globalTid, nameId);
INSERT INTO PROFILER_OVERHEAD VALUES (1, 2, NULL, 5), (10, 20, 16777217, 7), (30, 40, 16777217, 9);
CREATE TABLE DIAGNOSTIC_EVENT (timestamp, text);
INSERT INTO DIAGNOSTIC_EVENT VALUES (1, 'dropped 99999999999999999999999 events'), (2, 'lost 9223372036854775807 records'),
  (3, 'lost 9223372036854775807 records'), ('never', 'text');
