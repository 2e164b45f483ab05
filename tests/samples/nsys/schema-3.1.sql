-- nsys 2023.2, schema 3.1: NVTX with domains, categories, registered strings, marks, and ranges that end on another
-- thread or never; events and the waits for them; GPUs whose id is not their CUDA ordinal; MPI and cuDNN ranges.
CREATE TABLE EXPORT_META_DATA (name TEXT NOT NULL, value TEXT);
INSERT INTO EXPORT_META_DATA VALUES ('EXPORT_PRODUCT_VERSION', '2023.2.3.0'), ('EXPORT_SCHEMA_VERSION', '3.1.7'),
  ('EXPORT_PARAM_OUTUPT_FILE', 'report1.sqlite'), ('EXPORT_PARAM_TIME_NORMALIZE', 'false'), ('EXPORT_PARAM_TIME_SHIFT', '0');
CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);
INSERT INTO StringIds VALUES (1, 'cudaEventSynchronize_v3020'), (2, 'cudaLaunchKernel_v7000'), (3, 'gemm'), (4, 'forward'),
  (5, 'MPI_Allreduce'), (6, 'cudnnConvolutionForward'), (7, 'MPI_Send'), (2000000000, 'training step');
CREATE TABLE TARGET_INFO_SESSION_START_TIME (utcEpochNs INTEGER, utcTime TEXT, localTime TEXT);
INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES (1000, '1970-01-01T00:00:00', '1970-01-01T00:00:00');
CREATE TABLE ANALYSIS_DETAILS (globalVid INTEGER, duration INTEGER, startTime INTEGER, stopTime INTEGER);
INSERT INTO ANALYSIS_DETAILS VALUES (1 << 48, 90000, 0, 90000);
CREATE TABLE TARGET_INFO_GPU (vmId INTEGER NOT NULL, id INTEGER NOT NULL, name TEXT, smCount INTEGER, cuDevice INTEGER,
  computeMajor INTEGER, computeMinor INTEGER, uuid TEXT);
INSERT INTO TARGET_INFO_GPU VALUES (1 << 48, 1, 'NVIDIA A40', 84, 1, 8, 6, NULL), (1 << 48, 0, 'NVIDIA A100', 108, 2, 8, 0, NULL),
  (1 << 48, 2, 'NVIDIA A100', 108, 0, 8, 0, NULL);
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, deviceId INTEGER, contextId INTEGER, streamId INTEGER,
  correlationId INTEGER, globalPid INTEGER, demangledName INTEGER, shortName INTEGER, registersPerThread INTEGER,
  gridX INTEGER, gridY INTEGER, gridZ INTEGER, blockX INTEGER, blockY INTEGER, blockZ INTEGER);
INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES
  (2000, 3000, 0, 1, 7, 11, (1 << 48) | (500 << 24), 3, 3, 32, 8, 1, 1, 64, 1, 1),
  (3000, 4000, 0, 1, 13, 12, (1 << 48) | (500 << 24), 99, 99, 32, 8, 1, 1, 64, 1, 1);
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER, end INTEGER, eventClass INTEGER, globalTid INTEGER,
  correlationId INTEGER, nameId INTEGER, returnValue INTEGER, callchainId INTEGER);
INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (1500, 1600, 0, (1 << 48) | (500 << 24) | 500, 11, 2, 0, NULL),
  (1700, 1800, 0, (1 << 48) | (500 << 24) | 500, 12, 2, 0, NULL), (3500, 4100, 0, (1 << 48) | (500 << 24) | 500, 30, 1, 0, NULL);
CREATE TABLE CUPTI_ACTIVITY_KIND_CUDA_EVENT (deviceId INTEGER, contextId INTEGER, streamId INTEGER, correlationId INTEGER,
  globalPid INTEGER, eventId INTEGER);
-- event 9 is recorded three times: on stream 7, then on 13 (the one that is waited for), then on 7 again
INSERT INTO CUPTI_ACTIVITY_KIND_CUDA_EVENT VALUES (0, 1, 7, 40, (1 << 48) | (500 << 24), 9),
  (0, 1, 13, 20, (1 << 48) | (500 << 24), 9), (0, 1, 7, 10, (1 << 48) | (500 << 24), 9);
CREATE TABLE CUPTI_ACTIVITY_KIND_SYNCHRONIZATION (start INTEGER, end INTEGER, deviceId INTEGER, contextId INTEGER,
  streamId INTEGER, correlationId INTEGER, globalPid INTEGER, syncType INTEGER, eventId INTEGER);
INSERT INTO CUPTI_ACTIVITY_KIND_SYNCHRONIZATION VALUES
  (3550, 4050, 0, 1, 4294967295, 30, (1 << 48) | (500 << 24), 2, 9),
  (5000, 5001, 0, 1, 7, 31, (1 << 48) | (500 << 24), 4, 9),
  (6000, 6001, 0, 1, 4294967295, 5, (1 << 48) | (500 << 24), 2, 9);
CREATE TABLE NVTX_EVENTS (start INTEGER NOT NULL, end INTEGER, eventType INTEGER NOT NULL, rangeId INTEGER, category INTEGER,
  color INTEGER, text TEXT, globalTid INTEGER, endGlobalTid INTEGER, textId INTEGER, domainId INTEGER, uint64Value INTEGER,
  int64Value INTEGER, doubleValue REAL, uint32Value INTEGER, int32Value INTEGER, floatValue REAL, jsonTextId INTEGER,
  jsonText TEXT);
INSERT INTO NVTX_EVENTS (start, end, eventType, category, text, globalTid, endGlobalTid, textId, domainId) VALUES
  (1000, 8000, 59, NULL, NULL, (1 << 48) | (500 << 24) | 500, NULL, 2000000000, NULL),
  (1100, 1900, 59, 3, NULL, (1 << 48) | (500 << 24) | 500, NULL, 4, 5),
  (1200, NULL, 34, NULL, 'loss is NaN', (1 << 48) | (500 << 24) | 500, NULL, NULL, 0),
  (1300, 9000, 60, NULL, 'request', (1 << 48) | (500 << 24) | 500, (1 << 48) | (500 << 24) | 501, NULL, 5),
  (1400, NULL, 59, NULL, 'never popped', (1 << 48) | (500 << 24) | 501, NULL, NULL, 0),
  (1450, 9223372036854770000, 60, NULL, 'never ended', (1 << 48) | (500 << 24) | 501, NULL, NULL, 0),
  (10, NULL, 39, NULL, 'loader', (1 << 48) | (500 << 24) | 501, NULL, NULL, 0),
  (-50, NULL, 75, NULL, 'PyTorch', (1 << 48) | (500 << 24) | 500, NULL, NULL, 5),
  (20, NULL, 33, 3, 'model', (1 << 48) | (500 << 24) | 500, NULL, NULL, 5),
  (9100, NULL, 76, NULL, NULL, (1 << 48) | (500 << 24) | 500, NULL, NULL, 5),
  (30, 40, 999, NULL, 'from the future', (1 << 48) | (500 << 24) | 500, NULL, NULL, 0);
CREATE TABLE MPI_RANKS (globalPid INTEGER NOT NULL, rank INTEGER NOT NULL);
INSERT INTO MPI_RANKS VALUES ((1 << 48) | (500 << 24), 3);
CREATE TABLE MPI_COMMUNICATORS (rank INTEGER, timestamp INTEGER, commHandle INTEGER, size INTEGER);
INSERT INTO MPI_COMMUNICATORS VALUES (3, 0, 1, 8), (3, 0, 2, 1);
CREATE TABLE MPI_COLLECTIVES_EVENTS (start INTEGER NOT NULL, end INTEGER, globalTid INTEGER, textId INTEGER, commHandle INTEGER);
INSERT INTO MPI_COLLECTIVES_EVENTS VALUES (7000, 7500, (1 << 48) | (500 << 24) | 500, 5, 1);
CREATE TABLE MPI_P2P_EVENTS (start INTEGER NOT NULL, end INTEGER, globalTid INTEGER, textId INTEGER, size INTEGER);
INSERT INTO MPI_P2P_EVENTS VALUES (7600, NULL, (1 << 48) | (500 << 24) | 500, 7, 64);
CREATE TABLE CUDNN_EVENTS (start INTEGER NOT NULL, end INTEGER NOT NULL, eventClass INTEGER, globalTid INTEGER, nameId INTEGER);
INSERT INTO CUDNN_EVENTS VALUES (1120, 1480, 28, (1 << 48) | (500 << 24) | 500, 6);
