import { FileS3Persistence } from '../../node_modules/fauxqs/dist/s3/fileS3Persistence.js';
import { S3Store } from '../../node_modules/fauxqs/dist/s3/s3Store.js';
import { SnsStore } from '../../node_modules/fauxqs/dist/sns/snsStore.js';
import { SqsStore } from '../../node_modules/fauxqs/dist/sqs/sqsStore.js';
import { removeTornObjects } from './torn-objects.ts';

/**
 * The stores of the emulator: queues and topics in memory, objects as files. What its option `s3StorageDir` does, which it has
 * only for a server that listens to the whole network; its version is pinned, since these files are no public part of it.
 */
export const createStores = (objectDirectory: string) => {
  removeTornObjects(objectDirectory);
  const s3Store = new S3Store();
  const files = new FileS3Persistence(objectDirectory);
  files.loadS3(s3Store);
  s3Store.persistence = files;
  return { sqsStore: new SqsStore(), snsStore: new SnsStore(), s3Store };
};
