// The handle of a file.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <utility>

#include "errors.h"
#include "findings.h"
#include "handles.h"
#include "text.h"

namespace nmb_python {

namespace {

std::shared_ptr<FileHandle> open_file(const nb::bytes& path, bool verify, int external,
                                      std::size_t cache_bytes, std::size_t request_bytes,
                                      std::uint64_t generation) {
  nmb::ReadOptions options;
  options.cache_bytes = cache_bytes;
  options.request_bytes = request_bytes;
  options.unverified = verify ? nmb::Unverified::kNothing : nmb::Unverified::kPartsOfPieces;
  options.external = static_cast<nmb::ExternalPaths>(external);
  options.generation = generation;
  const std::string name(path.c_str(), path.size());
  nmb::Result<nmb::Reader> reader = [&] {
    nb::gil_scoped_release unlocked;
    return nmb::Reader::try_open(name, options);
  }();
  return std::make_shared<FileHandle>(FileHandle{need(std::move(reader))});
}

BlockHandle block_handle(const std::shared_ptr<FileHandle>& file, nmb::BlockView view) {
  return {file, std::move(view)};
}

std::optional<BlockHandle> find_block(const std::shared_ptr<FileHandle>& file, nb::handle name) {
  const std::string text = from_text(name);
  nmb::Result<nmb::BlockView> found = [&] {
    nb::gil_scoped_release unlocked;
    return file->reader.try_block(text);
  }();
  if (found.ok()) return block_handle(file, *std::move(found));
  if (found.status().code() == nmb::Code::kNotFound) return std::nullopt;
  raise(found.status(), text);
}

BlockHandle block_at(const std::shared_ptr<FileHandle>& file, std::uint64_t position) {
  nmb::Result<nmb::BlockView> found = [&] {
    nb::gil_scoped_release unlocked;
    return file->reader.try_block_at(position);
  }();
  return block_handle(file, need(std::move(found)));
}

// Returns at most `most` blocks whose names match, from the name `from` on.
std::vector<BlockHandle> some_blocks(const std::shared_ptr<FileHandle>& file, nb::handle glob,
                                     nb::handle from, std::size_t most) {
  const std::string pattern = from_text(glob), first = from_text(from);
  std::vector<BlockHandle> out;
  const nmb::Status status = [&] {
    nb::gil_scoped_release unlocked;
    return file->reader.try_for_each_block(
        pattern,
        [&](const nmb::BlockView& view) -> nmb::Result<bool> {
          out.push_back({file, view});
          return out.size() < most;
        },
        first);
  }();
  need(status);
  return out;
}

std::uint64_t count_blocks(const FileHandle& file, nb::handle glob) {
  const std::string pattern = from_text(glob);
  std::uint64_t count = 0;
  const nmb::Status status = [&] {
    nb::gil_scoped_release unlocked;
    return file.reader.try_for_each_block(pattern, [&](const auto&) -> nmb::Result<bool> {
      ++count;
      return true;
    });
  }();
  need(status);
  return count;
}

nb::tuple totals_of(const FileHandle& file, nb::handle prefix) {
  const std::string text = from_text(prefix);
  nmb::Result<nmb::Totals> found = [&] {
    nb::gil_scoped_release unlocked;
    return text.empty() ? nmb::Result<nmb::Totals>(file.reader.totals())
                        : file.reader.try_totals(text);
  }();
  const nmb::Totals t = need(std::move(found));
  return nb::make_tuple(t.blocks, t.variables, t.dimensions, t.attributes, t.records, t.samples);
}

// Returns the blocks for which an expression holds, and warnings. raises: whether blocks that
// cannot be decided are an error.
nb::tuple find_blocks(const std::shared_ptr<FileHandle>& file, nb::handle expression,
                      bool reads_values, unsigned threads, bool raises) {
  const std::string text = from_text(expression);
  std::vector<std::string> warnings;
  nmb::FindOptions options;
  options.reads_values = reads_values;
  options.threads = threads;
  if (!raises)
    options.on_warning = [&](const std::string& warning) { warnings.push_back(warning); };
  nmb::Result<std::vector<nmb::BlockView>> found = [&] {
    nb::gil_scoped_release unlocked;
    return file->reader.try_find(text, options);
  }();
  nb::list blocks;
  for (nmb::BlockView& view : need(std::move(found)))
    blocks.append(block_handle(file, std::move(view)));
  return nb::make_tuple(blocks, warnings);
}

std::uint64_t position_of(const FileHandle& file, nb::handle name) {
  const std::string text = from_text(name);
  nmb::Result<std::uint64_t> found = [&] {
    nb::gil_scoped_release unlocked;
    return file.reader.try_position(text);
  }();
  return need(std::move(found), text);
}

// Returns what identifies a generation of an NMB file; none for other files.
nb::object digest_of_generation(const FileHandle& file) {
  if (file.reader.generation() == 0) return nb::none();
  const auto [low, high] = file.reader.generation_digest();
  return nb::make_tuple(low, high);
}

nb::list provenance_of(const FileHandle& file) {
  nmb::Result<std::vector<std::string>> found = [&] {
    nb::gil_scoped_release unlocked;
    return file.reader.try_provenance();
  }();
  nb::list out;
  for (const std::string& text : need(std::move(found))) out.append(to_text(text));
  return out;
}

nb::list warnings_of(const FileHandle& file) {
  nb::list out;
  for (const nmb::Finding& finding : file.reader.warnings()) out.append(to_python(finding));
  return out;
}

}  // namespace

void bind_file(nb::module_& module) {
  nb::class_<FileHandle>(module, "File")
      .def_prop_ro("kind",
                   [](const FileHandle& f) { return to_text(nmb::kind_name(f.reader.kind())); })
      .def_prop_ro("generation", [](const FileHandle& f) { return f.reader.generation(); })
      .def_prop_ro("digest", &digest_of_generation)
      .def_prop_ro("file_length", [](const FileHandle& f) { return f.reader.file_length(); })
      .def_prop_ro("has_hdf5_view", [](const FileHandle& f) { return f.reader.has_hdf5_view(); })
      .def("block", &find_block)
      .def("block_at", &block_at)
      .def("blocks", &some_blocks)
      .def("count", &count_blocks)
      .def("totals", &totals_of)
      .def("find", &find_blocks)
      .def("position", &position_of)
      .def("provenance", &provenance_of)
      .def("warnings", &warnings_of);
  module.def("open_file", &open_file);
}

}  // namespace nmb_python
