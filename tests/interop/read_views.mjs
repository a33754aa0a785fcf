// What h5wasm and jsfive read of HDF5 files, as JSON: node read_views.mjs FOLDER FILE..., in whose node_modules both are.
import {createRequire} from 'module';
import {readFileSync} from 'fs';
import {pathToFileURL} from 'url';

const [folder, ...files] = process.argv.slice(2);
const require = createRequire(pathToFileURL(folder + '/'));
const h5wasm = (await import(pathToFileURL(require.resolve('h5wasm/node')))).default;
const jsfive = require('jsfive');
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
    else found[path + key] = {shape: object.shape, values: plain(object.value), units: plain(object.attrs.units?.value)};
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
  all[name] = {h5wasm: byH5wasm(file, '', {}), jsfive: byJsfive(new jsfive.File(buffer, name), '', {})};
  file.close();
}
console.log(JSON.stringify(all));
