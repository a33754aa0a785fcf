// What h5wasm and jsfive read of HDF5 files, as JSON: node read_views.mjs [--h5wasm] FILE..., beside node_modules with both.
// With --h5wasm, only h5wasm reads.
import {readFileSync} from 'fs';
import h5wasm from 'h5wasm/node';
import * as jsfive from 'jsfive';

const alone = process.argv[2] === '--h5wasm';
const files = process.argv.slice(alone ? 3 : 2);
await h5wasm.ready;

const plain = (value) => {
  if (value === null || value === undefined) return null;
  if (typeof value === 'bigint') return Number(value);
  if (ArrayBuffer.isView(value) || Array.isArray(value)) return Array.from(value, plain);
  return value;
};

function byH5wasm(group, path, found) {
  for (const key of group.keys()) {
    const object = group.get(key);
    if (object instanceof h5wasm.Group) byH5wasm(object, path + key + '/', found);
    else if (object instanceof h5wasm.Dataset)
      found[path + key] = {shape: object.shape, values: plain(object.value), units: plain(object.attrs.units?.value)};
  }
  return found;
}

function byJsfive(group, path, found) {
  for (const key of group.keys) {
    const object = group.get(key);
    if (object instanceof jsfive.Group) byJsfive(object, path + key + '/', found);
    else found[path + key] = {shape: object.shape, values: plain(object.value), units: plain(object.attrs.units)};
  }
  return found;
}

const all = {};
for (const name of files) {
  const file = new h5wasm.File(name, 'r');
  const bytes = readFileSync(name);
  const buffer = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length);
  all[name] = {h5wasm: byH5wasm(file, '', {})};
  if (!alone) all[name].jsfive = byJsfive(new jsfive.File(buffer, name), '', {});
  file.close();
}
console.log(JSON.stringify(all));
