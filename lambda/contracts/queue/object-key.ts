/** Names one object that holds a part of a dispatch. */
export interface ObjectPlace {
  /** Stable id of the table whose items name the object. */
  readonly tableId: string;
  readonly dispatchId: string;
  /** Random: no try to accept a request writes a key of another. */
  readonly tryId: string;
  /** Of a batch its number, else `content`. */
  readonly name: string;
  /** SHA-256 of the stored bytes, in hexadecimal. */
  readonly checksum: string;
}

/** The key of an object: whoever reads it can check the bytes against their checksum. */
export const toObjectKey = ({ tableId, dispatchId, tryId, name, checksum }: ObjectPlace): string =>
  `${tableId}/${dispatchId}/${tryId}/${name}-${checksum}`;

const KEY = /^(?<tableId>[^/]+)\/(?<dispatchId>[^/]+)\/(?<tryId>[^/]+)\/(?<name>\d+|content)-(?<checksum>[0-9a-f]{64})$/;

/** The parts of a key; undefined: no version of this code made it. */
export const parseObjectKey = (key: string): ObjectPlace | undefined => {
  const { tableId, dispatchId, tryId, name, checksum } = KEY.exec(key)?.groups ?? {};
  if (tableId === undefined || dispatchId === undefined || tryId === undefined) return undefined;
  return name === undefined || checksum === undefined ? undefined : { tableId, dispatchId, tryId, name, checksum };
};
