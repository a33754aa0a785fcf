// Where samples lie: which blocks have them, and how many each block has.
#include <nanobind/nanobind.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/vector.h>

#include <cstring>
#include <utility>
#include <vector>

#include "arrays.h"
#include "errors.h"
#include "handles.h"
#include "text.h"

namespace nmb_python {

namespace {

template <class T>
nb::object numbers_array(char kind, const std::vector<T>& numbers) {
  const NewArray made =
      new_array(dtype_of(kind, sizeof(T)), std::vector<std::uint64_t>{numbers.size()});
  if (!numbers.empty()) std::memcpy(made.data, numbers.data(), made.bytes);
  return made.array;
}

// Returns the block of each object, the object's number in its block, and how many the block has.
// by_variables: whether `numbers` count variables; otherwise they count samples.
nb::tuple blocks_with(const std::shared_ptr<FileHandle>& file, nb::handle numbers,
                      bool by_variables) {
  const std::vector<std::int64_t> wanted = integers_of(numbers);
  const auto count = by_variables ? &nmb::BlockCounts::variables : &nmb::BlockCounts::samples;
  std::vector<BlockHandle> found(wanted.size());
  std::vector<std::int64_t> within(wanted.size()), counts(wanted.size());
  const nmb::Status status = [&]() -> nmb::Status {
    nb::gil_scoped_release unlocked;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      auto one = file->reader.try_block_with(count, static_cast<std::uint64_t>(wanted[i]));
      if (!one.ok()) return one.status();
      counts[i] = static_cast<std::int64_t>(one->first.counts().*count);
      found[i] = {file, std::move(one->first)};
      within[i] = static_cast<std::int64_t>(one->second);
    }
    return {};
  }();
  need(status);
  return nb::make_tuple(found, numbers_array('i', within), numbers_array('i', counts));
}

// Spreads the bits of a number over all bits (the finalizer of splitmix64).
std::uint64_t mixed(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

// FNV-1a.
std::uint64_t hash_of(const std::string& name) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return mixed(hash);
}

// Returns for each block, in the order of names, a hash of its name, its number of samples and its
// number of variables.
nb::tuple block_table(const FileHandle& file) {
  std::vector<std::uint64_t> hashes;
  std::vector<std::int64_t> samples, variables;
  const nmb::Status status = [&] {
    nb::gil_scoped_release unlocked;
    return file.reader.try_for_each_block(
        "**", [&](const nmb::BlockView& view) -> nmb::Result<bool> {
          hashes.push_back(hash_of(view.name()));
          samples.push_back(static_cast<std::int64_t>(view.counts().samples));
          variables.push_back(static_cast<std::int64_t>(view.counts().variables));
          return true;
        });
  }();
  need(status);
  return nb::make_tuple(numbers_array('u', hashes), numbers_array('i', samples),
                        numbers_array('i', variables));
}

// Returns for each block for which an expression holds its position, the number of its first sample
// and its number of samples; of variables, if by_variables.
nb::tuple matches(const FileHandle& file, nb::handle expression, bool by_variables,
                  unsigned threads) {
  const std::string text = from_text(expression);
  const auto count = by_variables ? &nmb::BlockCounts::variables : &nmb::BlockCounts::samples;
  std::vector<std::int64_t> positions, firsts, counts;
  const nmb::Status status = [&]() -> nmb::Status {
    nb::gil_scoped_release unlocked;
    nmb::FindOptions options;
    options.threads = threads;
    nmb::Result<std::vector<nmb::BlockView>> found = file.reader.try_find(text, options);
    if (!found.ok()) return found.status();
    // Both are in the order of names.
    std::int64_t position = 0, first = 0;
    return file.reader.try_for_each_block(
        "**", [&](const nmb::BlockView& view) -> nmb::Result<bool> {
          const auto objects = static_cast<std::int64_t>(view.counts().*count);
          if (positions.size() < found->size() &&
              view.name() == (*found)[positions.size()].name()) {
            positions.push_back(position);
            firsts.push_back(first);
            counts.push_back(objects);
          }
          ++position;
          first += objects;
          return positions.size() < found->size();
        });
  }();
  need(status);
  return nb::make_tuple(numbers_array('i', positions), numbers_array('i', firsts),
                        numbers_array('i', counts));
}

}  // namespace

void bind_samples(nb::module_& module) {
  module.def("blocks_with", &blocks_with);
  module.def("block_table", &block_table);
  module.def("matches", &matches);
}

}  // namespace nmb_python
