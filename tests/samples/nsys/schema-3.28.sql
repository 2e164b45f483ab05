-- nsys 2026.4, schema 3.28: rows in no order, whole-graph records (one that starts on the host), two processes with
-- equal correlation ids of which one hides GPU 0, event sync ids, decompression, clusters, records without times.
CREATE TABLE META_DATA_EXPORT (name TEXT NOT NULL, value TEXT);
INSERT INTO META_DATA_EXPORT VALUES ('EXPORT_PARAM_USE_SHUFFLE', 'true'), ('EXPORT_SCHEMA_VERSION', '3.28.1'),
  ('EXPORT_PRODUCT_VERSION', '2026.4.1.99');
CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);
INSERT INTO StringIds VALUES (90, 'cudaGraphLaunch_v10000'), (91, 'attention<float>(float *)'), (92, 'attention'),
  (93, 'cudaLaunchKernelExC_v11060'), (94, 'cuLaunchKernelEx');
CREATE TABLE TARGET_INFO_SESSION_START_TIME (utcEpochNs INTEGER, utcTime TEXT, localTime TEXT, systemClockNs INTEGER,
  sessionStartCntVctNs INTEGER);
INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES (1785534046000000000, '2026-07-31T21:40:46', '', 1, NULL);
CREATE TABLE TARGET_INFO_GPU (vmId INTEGER, id INTEGER, name TEXT, smCount INTEGER, uuid TEXT, cuDevice INTEGER,
  computeMajor INTEGER, computeMinor INTEGER, numaNodeId INTEGER);
INSERT INTO TARGET_INFO_GPU VALUES
  (1 << 48, 1, 'NVIDIA H200', 132, '11111111-0000-0000-0000-000000000001', 1, 9, 0, 0),
  (1 << 48, 0, 'NVIDIA H200', 132, '11111111-0000-0000-0000-000000000000', 0, 9, 0, 0);
CREATE TABLE TARGET_INFO_CUDA_DEVICE (gpuId INTEGER, cudaId INTEGER NOT NULL, pid INTEGER NOT NULL, uuid TEXT,
  numMultiprocessors INTEGER);
-- process 10 sees both GPUs, process 20 only the second, process 30 also the second, known by its UUID
INSERT INTO TARGET_INFO_CUDA_DEVICE VALUES (1, 1, 10, NULL, 132), (0, 0, 10, NULL, 132), (1, 0, 20, NULL, 132),
  (NULL, 0, 30, '11111111-0000-0000-0000-000000000001', 132);
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL,
  contextId INTEGER NOT NULL, greenContextId INTEGER, streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER,
  demangledName INTEGER NOT NULL, shortName INTEGER NOT NULL, mangledName INTEGER, launchType INTEGER, cacheConfig INTEGER,
  registersPerThread INTEGER NOT NULL, gridX INTEGER NOT NULL, gridY INTEGER NOT NULL, gridZ INTEGER NOT NULL,
  blockX INTEGER NOT NULL, blockY INTEGER NOT NULL, blockZ INTEGER NOT NULL, staticSharedMemory INTEGER NOT NULL,
  dynamicSharedMemory INTEGER NOT NULL, localMemoryPerThread INTEGER NOT NULL, localMemoryTotal INTEGER NOT NULL,
  gridId INTEGER NOT NULL, sharedMemoryExecuted INTEGER, graphNodeId INTEGER, sharedMemoryLimitConfig INTEGER,
  qmdBulkReleaseDone INTEGER, qmdPreexitDone INTEGER, qmdLastCtaDone INTEGER, graphId INTEGER, clusterX INTEGER,
  clusterY INTEGER, clusterZ INTEGER, clusterSchedulingPolicy INTEGER, maxPotentialClusterSize INTEGER,
  maxActiveClusters INTEGER, sharedMemoryRequestedPercentage INTEGER, tensorSizeMinusOneElements TEXT NOT NULL);
INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES
  (7000, 7600, 0, 1, NULL, 7, 100, (1 << 48) | (20 << 24), 91, 92, NULL, 1, 0, 168, 132, 1, 1, 384, 1, 1, 1024, 200000, 0, 0, 9,
   233472, NULL, 0, NULL, NULL, NULL, NULL, 2, 1, 1, 1, 8, 16, NULL, ''),
  (0, 0, 0, 1, NULL, 7, 101, (1 << 48) | (10 << 24), 91, 92, NULL, 1, 0, 168, 132, 1, 1, 384, 1, 1, 0, 0, 0, 0, 8,
   0, NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, ''),
  (5000, 5500, 0, 1, NULL, 7, 100, (1 << 48) | (10 << 24), 91, 92, NULL, 1, 0, 168, 132, 1, 1, 384, 1, 1, 1024, 200000, 0, 0, 7,
   233472, NULL, 0, NULL, NULL, NULL, NULL, 2, 1, 1, 1, 8, 16, NULL, ''),
  (8000, 7900, 0, 1, NULL, 7, 102, (1 << 48) | (10 << 24), 91, 92, NULL, 1, 0, 168, 132, 1, 1, 384, 1, 1, 0, 0, 0, 0, 8,
   0, NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, ''),
  (8100, 8200, 0, 1, NULL, 9, 7, (1 << 48) | (30 << 24), 91, 92, NULL, 1, 0, 168, 1, 1, 1, 384, 1, 1, 0, 0, 0, 0, 8,
   0, (5 << 32) | 3, 0, NULL, NULL, NULL, 44, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '');
CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE (start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL,
  contextId INTEGER NOT NULL, greenContextId INTEGER, streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER,
  graphId INTEGER NOT NULL, graphExecId INTEGER NOT NULL);
INSERT INTO CUPTI_ACTIVITY_KIND_GRAPH_TRACE VALUES (9500, 9900, 2147483647, 2147483647, NULL, 7, 104, (1 << 48) | (20 << 24), 6, 8),
  (9000, 9400, 0, 1, NULL, 7, 103, (1 << 48) | (20 << 24), 6, 8);
CREATE TABLE CUPTI_ACTIVITY_KIND_MEM_DECOMPRESS (start INTEGER NOT NULL, end INTEGER NOT NULL, eventClass INTEGER NOT NULL,
  deviceId INTEGER NOT NULL, contextId INTEGER NOT NULL, streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER,
  ChannelID INTEGER NOT NULL, sourceBytes INTEGER NOT NULL, NumberOfOperations INTEGER NOT NULL);
INSERT INTO CUPTI_ACTIVITY_KIND_MEM_DECOMPRESS VALUES (400, 450, 79, 0, 1, 7, 99, (1 << 48) | (10 << 24), 3, 12345, 2);
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER NOT NULL, end INTEGER NOT NULL, eventClass INTEGER NOT NULL,
  globalTid INTEGER, correlationId INTEGER, nameId INTEGER NOT NULL, returnValue INTEGER NOT NULL, callchainId INTEGER);
INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES
  (8800, 8900, 0, (1 << 48) | (20 << 24) | 21, 103, 90, 0, NULL),
  (6000, 6900, 0, (1 << 48) | (20 << 24) | 21, 100, 93, 0, NULL),
  (4010, 4090, 1, (1 << 48) | (10 << 24) | 11, 100, 94, 0, NULL),
  (4000, 4100, 0, (1 << 48) | (10 << 24) | 11, 100, 93, 0, NULL),
  (9410, 9490, 0, (1 << 48) | (20 << 24) | 21, 104, 90, 0, NULL);
CREATE TABLE CUPTI_ACTIVITY_KIND_CUDA_EVENT (timestamp INTEGER, deviceId INTEGER NOT NULL, contextId INTEGER NOT NULL,
  greenContextId INTEGER, streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER, eventId INTEGER NOT NULL,
  eventSyncId INTEGER);
INSERT INTO CUPTI_ACTIVITY_KIND_CUDA_EVENT VALUES (0, 0, 1, NULL, 7, 50, (1 << 48) | (10 << 24), 2, 1),
  (0, 0, 1, NULL, 8, 60, (1 << 48) | (10 << 24), 2, 2);
CREATE TABLE CUPTI_ACTIVITY_KIND_SYNCHRONIZATION (start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL,
  contextId INTEGER NOT NULL, greenContextId INTEGER, streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER,
  deprecatedSyncType INTEGER, syncType INTEGER NOT NULL, eventId INTEGER NOT NULL, eventSyncId INTEGER);
-- waits for the first record of the event although a later one is on another stream
INSERT INTO CUPTI_ACTIVITY_KIND_SYNCHRONIZATION VALUES (5600, 5700, 0, 1, NULL, 4294967295, 70, (1 << 48) | (10 << 24), NULL, 1, 2, 1);
