-- nsys 2024.6, schema 3.16: META_DATA_EXPORT, the captured command, green contexts, call stacks of CUDA calls,
-- sampled GPU metrics, JIT and overhead records, messages about lost data. Node-level graph tracing.
CREATE TABLE META_DATA_EXPORT (name TEXT NOT NULL, value TEXT);
INSERT INTO META_DATA_EXPORT VALUES ('EXPORT_PRODUCT_VERSION', '2024.6.2.225'), ('EXPORT_SCHEMA_VERSION', '3.16.1'),
  ('EXPORT_PARAM_OUTPUT_FILE', 'train.sqlite'), ('EXPORT_PARAM_INPUT_FILE', 'train.nsys-rep');
CREATE TABLE META_DATA_CAPTURE (name TEXT NOT NULL, value TEXT);
INSERT INTO META_DATA_CAPTURE VALUES ('PROCESS_0:ARGUMENT_1', '--note=it''s slow'), ('PROCESS_0:ARGUMENT_10', 'last'),
  ('PROCESS_0:ARGUMENT_0', 'train.py'), ('PROCESS_0:COMMAND', 'python3'), ('PROCESS_0:WORKING_DIR', '/srv/job'),
  ('CUDA_GRAPH_TRACE_OPTIONS:MODE', 'Node'), ('RATE_HZ', '0');
CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);
INSERT INTO StringIds VALUES (1, 'cudaGraphLaunch_v10000'), (2, 'node_kernel(float *)'), (3, 'lazy loading'), (4, 'main'),
  (5, '/srv/job/app'), (6, 'launch_all'), (7, 'compile'), (8, 'cudaGetDeviceProperties_v2_v12000'), (9, 'cudaFree');
CREATE TABLE TARGET_INFO_SESSION_START_TIME (utcEpochNs INTEGER, utcTime TEXT, localTime TEXT);
INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES (500, '', '');
CREATE TABLE TARGET_INFO_GPU (vmId INTEGER, id INTEGER, name TEXT, smCount INTEGER, cuDevice INTEGER, computeMajor INTEGER,
  computeMinor INTEGER);
INSERT INTO TARGET_INFO_GPU VALUES (1 << 48, 0, 'NVIDIA RTX A4500', 56, 0, 8, 6);
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, deviceId INTEGER, contextId INTEGER, greenContextId INTEGER,
  streamId INTEGER, correlationId INTEGER, globalPid INTEGER, demangledName INTEGER, shortName INTEGER, mangledName INTEGER,
  registersPerThread INTEGER, gridX INTEGER, gridY INTEGER, gridZ INTEGER, blockX INTEGER, blockY INTEGER, blockZ INTEGER,
  graphNodeId INTEGER);
-- three nodes of one graph launch share its correlation id
INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES
  (1000, 1100, 0, 1, 0, 7, 5, (1 << 48) | (77 << 24), 2, 2, 2, 16, 1, 1, 1, 32, 1, 1, (12 << 32) | 1),
  (1100, 1200, 0, 1, 0, 7, 5, (1 << 48) | (77 << 24), 2, 2, 2, 16, 1, 1, 1, 32, 1, 1, (12 << 32) | 2),
  (1200, 1300, 0, 1, 0, 7, 5, (1 << 48) | (77 << 24), 2, 2, 2, 16, 1, 1, 1, 32, 1, 1, (12 << 32) | 3);
CREATE TABLE CUPTI_ACTIVITY_KIND_MEMSET (start INTEGER, end INTEGER, deviceId INTEGER, contextId INTEGER, greenContextId INTEGER,
  streamId INTEGER, correlationId INTEGER, globalPid INTEGER, value INTEGER, bytes INTEGER, graphNodeId INTEGER, memKind INTEGER);
INSERT INTO CUPTI_ACTIVITY_KIND_MEMSET VALUES (900, 950, 0, 1, 0, 7, 4, (1 << 48) | (77 << 24), 0, 4096, NULL, 2);
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER, end INTEGER, eventClass INTEGER, globalTid INTEGER,
  correlationId INTEGER, nameId INTEGER, returnValue INTEGER, callchainId INTEGER);
INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (800, 990, 0, (1 << 48) | (77 << 24) | 78, 5, 1, 0, 21),
  (700, 710, 0, (1 << 48) | (77 << 24) | 78, 3, 8, 0, NULL), (720, 730, 0, (1 << 48) | (77 << 24) | 78, 2, 9, 0, 99);
CREATE TABLE CUDA_CALLCHAINS (id INTEGER NOT NULL, symbol INTEGER NOT NULL, module INTEGER NOT NULL, unresolved INTEGER,
  originalIP INTEGER, stackDepth INTEGER NOT NULL, PRIMARY KEY (id, stackDepth));
INSERT INTO CUDA_CALLCHAINS VALUES (21, 4, 5, 0, 4096, 1), (21, 6, 5, 0, 4097, 0), (21, 12345, 5, 1, 4098, 2);
CREATE TABLE CUPTI_ACTIVITY_KIND_OVERHEAD (start INTEGER, end INTEGER, eventClass INTEGER, globalTid INTEGER,
  correlationId INTEGER, nameId INTEGER, overheadType INTEGER);
INSERT INTO CUPTI_ACTIVITY_KIND_OVERHEAD VALUES (805, 850, 103, (1 << 48) | (77 << 24) | 78, 5, 3, 1);
CREATE TABLE CUPTI_ACTIVITY_KIND_JIT (start INTEGER, end INTEGER, eventClass INTEGER, globalTid INTEGER, correlationId INTEGER,
  nameId INTEGER, overheadType INTEGER, jitEntryType INTEGER, jitOperationType INTEGER);
INSERT INTO CUPTI_ACTIVITY_KIND_JIT VALUES (860, 880, 102, (1 << 48) | (77 << 24) | 78, 5, 7, 1, 1, 1),
  (881, 882, 102, (1 << 48) | (77 << 24) | 78, 5, NULL, 1, 1, 1);
CREATE TABLE TARGET_INFO_GPU_METRICS (typeId INTEGER, sourceId INTEGER, typeName TEXT, metricId INTEGER, metricName TEXT);
INSERT INTO TARGET_INFO_GPU_METRICS VALUES (72057594037928960, 1, 'GPU Metrics', 3, 'SM Active [Throughput %]'),
  (72057594037928960, 1, 'GPU Metrics', 1, 'GPC Clock Frequency [MHz]'), (72057594037928960, 1, 'GPU Metrics', 2, 'Queue Depth');
CREATE TABLE GPU_METRICS (rawTimestamp INTEGER, timestamp INTEGER, typeId INTEGER, metricId INTEGER, value INTEGER);
INSERT INTO GPU_METRICS VALUES (0, 1100, 72057594037928960, 3, 87), (0, 1000, 72057594037928960, 1, 1650),
  (0, 1000, 72057594037928960, 3, 50), (0, 1000, 72057594037928960, 2, 9), (0, 1000, 72057594037928960, 44, 1);
CREATE TABLE DIAGNOSTIC_EVENT (timestamp INTEGER, timestampType INTEGER, source INTEGER, severity INTEGER, text TEXT,
  globalPid INTEGER);
INSERT INTO DIAGNOSTIC_EVENT VALUES
  (0, 1, 3, 1, 'Profiling has started.', -144115188075855872),
  (900, 1, 1, 1, 'Number of CUPTI events produced: 	9022, CUPTI buffers: 50.', (1 << 48) | (77 << 24)),
  (2000, 2, 3, 2, 'CUDA trace: 1234 events were dropped because buffer 3 was full.', (1 << 48) | (77 << 24)),
  (2100, 2, 3, 2, 'Some OS runtime events were lost.', (1 << 48) | (77 << 24)),
  (2200, 2, 3, 1, 'Number of dropped records: 0.', (1 << 48) | (77 << 24)),
  (2300, 2, 3, 1, 'Connection to the target was lost 2 times.', (1 << 48) | (77 << 24));
