#include "merge/input_kinds.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "convert/convert.h"
#include "files/files.h"
#include "merge/reading/input_options.h"
#include "merge/reading/input_selection.h"
#include "reader/file_reader.h"

namespace nmb {

namespace {

Kind classic_kind_of(FileKind kind) {
  return kind == FileKind::kCdf1   ? Kind::kCdf1
         : kind == FileKind::kCdf2 ? Kind::kCdf2
                                   : Kind::kCdf5;
}

void add(Kind kind, InputKinds* kinds) {
  kinds->classic = std::max(kinds->classic.value_or(kind), kind);
}

void add(const BlockEntry& entry, std::size_t input, InputKinds* kinds) {
  if (!is_from_hdf5(entry))
    add(static_cast<Kind>(entry.kind), kinds);
  else if (!kinds->hdf5)
    kinds->hdf5 = input;
}

// `reader` has the previous input, if this was an NMB file.
Status add_input(const PackOptions& options, std::size_t input,
                 std::shared_ptr<const FileReader>* reader, InputKinds* kinds) {
  const std::string& path = options.inputs[input];
  const std::vector<std::string>* const blocks = options.blocks_of(input);
  if (!*reader || !blocks || (*reader)->file().name() != path) {
    reader->reset();
    Result<std::unique_ptr<FileSource>> opened = FileSource::open(path);
    if (!opened.ok()) return {};
    const std::shared_ptr<const FileSource> file = *std::move(opened);
    const Result<FileKind> kind = kind_of(*file);
    if (!kind.ok() || *kind == FileKind::kUnknown) return {};
    if (is_classic(*kind)) add(classic_kind_of(*kind), kinds);
    if (*kind == FileKind::kHdf5 && !kinds->hdf5) kinds->hdf5 = input;
    if (*kind != FileKind::kNmb) return {};
    NMB_ASSIGN(*reader, FileReader::open(file, {.cache_bytes = kCachedBytesOfInput,
                                                .external = options.external}));
  }
  const FileReader& archive = **reader;
  if (!blocks)
    return archive.for_each_entry("", [&](const BlockEntry& entry) -> Result<bool> {
      add(entry, input, kinds);
      return true;
    });
  for (const std::string& name : *blocks) {
    NMB_ASSIGN(const std::optional<BlockEntry> entry, archive.find(name));
    if (entry) add(*entry, input, kinds);
  }
  return {};
}

bool is_classic_file(const std::string& path) {
  const Result<std::unique_ptr<FileSource>> file = FileSource::open(path);
  if (!file.ok()) return false;
  const Result<FileKind> kind = kind_of(**file);
  return kind.ok() && is_classic(*kind);
}

}  // namespace

Result<InputKinds> kinds_of_inputs(const PackOptions& options) {
  InputKinds kinds;
  std::shared_ptr<const FileReader> reader;
  for (std::size_t i = 0; i < options.inputs.size(); ++i) {
    const Status status = add_input(options, i, &reader, &kinds);
    if (!status.ok()) return status.in_file(options.inputs[i]);
  }
  return kinds;
}

Status settle_kind(Communicator& ranks, PackOptions* options, PackReport* report) {
  if (!options->kind_of_inputs) return {};
  if (!options->unites()) {
    if (ranks.rank() == 0 && is_classic_file(options->inputs.front()))
      report->kind_note =
          "a netCDF-4 file, because blocks become groups, which a classic file cannot have";
    return {};
  }
  Result<InputKinds> kinds = InputKinds();
  // Rank 0 reports an input that cannot be read again when the inputs are planned.
  if (ranks.rank() == 0) kinds = kinds_of_inputs(*options);
  if (!kinds.ok()) kinds = InputKinds();
  struct OutputKind {
    bool is_classic = false;
    Kind kind = Kind::kCdf5;
  };
  const std::optional<Kind> output = kinds->output();
  NMB_ASSIGN(
      const OutputKind found,
      ranks.broadcast_value(0, OutputKind{output.has_value(), output.value_or(Kind::kCdf5)}));
  if (found.is_classic) {
    options->classic = found.kind;
    options->hdf5.reset();
    report->classic = found.kind;
  } else if (ranks.rank() == 0 && kinds->classic) {
    report->kind_note = "a netCDF-4 file, because " + options->input_name(*kinds->hdf5) +
                        " comes from HDF5; other inputs are classic";
  }
  return {};
}

}  // namespace nmb
