-- A very early export: no export metadata, no processes on GPU records, the driver's calls in their own table, the
-- concurrent kernel table, NVTX with texts only, GPUs as CUPTI names them, and no graphs, shapes or bytes.
CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT NOT NULL);
INSERT INTO StringIds VALUES (1, 'saxpy'), (2, 'cudaLaunch_v3020'), (3, 'cuLaunchKernel');
CREATE TABLE CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL (start INT NOT NULL, end INT NOT NULL, deviceId INT NOT NULL,
  contextId INT NOT NULL, streamId INT NOT NULL, correlationId INT NOT NULL, shortName INT NOT NULL);
INSERT INTO CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL VALUES (200, 300, 0, 1, 7, 4, 1);
CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INT NOT NULL, end INT NOT NULL, deviceId INT NOT NULL, streamId INT NOT NULL,
  correlationId INT NOT NULL, copyKind INT NOT NULL);
INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (100, 150, 0, 7, 3, 1);
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INT NOT NULL, end INT NOT NULL, globalTid INT NOT NULL,
  correlationId INT NOT NULL, nameId INT NOT NULL);
INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (160, 190, (1 << 48) | (9 << 24) | 9, 4, 2);
CREATE TABLE CUPTI_ACTIVITY_KIND_DRIVER (start INT NOT NULL, end INT NOT NULL, globalTid INT NOT NULL,
  correlationId INT NOT NULL, nameId INT NOT NULL);
INSERT INTO CUPTI_ACTIVITY_KIND_DRIVER VALUES (165, 185, (1 << 48) | (9 << 24) | 9, 4, 3);
CREATE TABLE NVTX_EVENTS (start INT NOT NULL, end INT, text TEXT, globalTid INT NOT NULL);
INSERT INTO NVTX_EVENTS VALUES (90, 310, 'iteration', (1 << 48) | (9 << 24) | 9), (95, NULL, 'mark', (1 << 48) | (9 << 24) | 9);
CREATE TABLE TARGET_INFO_CUDA_GPU (deviceId INT NOT NULL, name TEXT NOT NULL, numMultiprocessors INT NOT NULL,
  numThreadsPerWarp INT NOT NULL, maxWarpsPerMultiprocessor INT NOT NULL, computeCapabilityMajor INT NOT NULL,
  computeCapabilityMinor INT NOT NULL, globalMemorySize INT NOT NULL);
INSERT INTO TARGET_INFO_CUDA_GPU VALUES (0, 'Tesla V100', 80, 32, 64, 7, 0, 16945512448);
