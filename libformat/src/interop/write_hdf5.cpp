// An NMB file as HDF5, by nmb-hdf5 (see nmb/write_hdf5.h).
#include "nmb/write_hdf5.h"

#include <algorithm>
#include <map>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "interop/group_block.h"
#include "interop/hdf5_file.h"
#include "interop/hdf5_form.h"
#include "interop/hdf5_process.h"
#include "interop/hdf5_stream.h"
#include "interop/netcdf_check.h"
#include "nmb/classic_header.h"
#include "nmb/file_source.h"
#include "nmb/hdf5_section.h"
#include "nmb/output_file.h"

namespace nmb {

namespace {

// Runs `nmb-hdf5 export`; what it says on its error stream is the message. path: what `output` is
// to become.
Status run_export(const std::string& input, const std::string& output, const std::string& path,
                  const ExtractOptions& options) {
  using hdf5::Hdf5Process;
  const auto flag = [](bool is_set) { return is_set ? "1" : "0"; };
  NMB_ASSIGN(const std::unique_ptr<Hdf5Process> process,
             Hdf5Process::start({"export", input, output, std::to_string(options.deflate),
                                 flag(options.shuffle), flag(options.plain)},
                                Hdf5Process::Tells::kOnError, -1));
  NMB_TRY(process->wait_readable(options.cancel));
  constexpr std::size_t kMostText = 64 << 10;
  std::vector<std::byte> text(kMostText), rest(kMostText);
  NMB_ASSIGN(const std::size_t length, process->read(text));
  for (std::size_t more = length; more == kMostText;) {
    NMB_ASSIGN(more, process->read(rest));
  }
  NMB_ASSIGN(const int code, process->wait());
  if (code == 0) return {};
  std::string_view message(reinterpret_cast<const char*>(text.data()), length);
  constexpr std::string_view kTool = "nmb-hdf5: ";
  if (message.starts_with(kTool)) message.remove_prefix(kTool.size());
  if (message.starts_with(input + ": ")) message.remove_prefix(input.size() + 2);
  while (message.ends_with('\n')) message.remove_suffix(1);
  if (code == hdf5::kNoSpaceExit)
    return Status(Code::kNoSpace, path, kNoOffset, "", std::string(message));
  return Status(code == 1 ? Code::kDamaged : Code::kUnsupported, input, kNoOffset, "",
                std::string(message));
}

// The result, read again, beside what was to be written.
class ResultCheck {
 public:
  // Both outlive this.
  ResultCheck(const Reader& reader, const hdf5::Hdf5Form& form, bool plain)
      : reader_(reader), form_(form), plain_(plain), netcdf_(reader, form) {}

  // The groups of the HDF5 file are the blocks of kind 6 that there are.
  Status run(const std::string& path) {
    NMB_ASSIGN(const std::shared_ptr<const FileSource> file, FileSource::open(path));
    NMB_ASSIGN(const std::shared_ptr<const SpoolFile> spool, SpoolFile::create());
    NMB_TRY(hdf5::read_file(file, spool, [&](hdf5::GroupBlock written) -> Status {
      return take(std::move(written), path);
    }));
    std::uint64_t expected = 0;
    NMB_TRY(reader_.for_each_entry("", [&](const BlockEntry& entry) -> Result<bool> {
      if (is_extended(entry)) ++expected;
      return true;
    }));
    if (groups_ != expected)
      return Status(Code::kDamaged, "the result is not what was to be written: found " +
                                        std::to_string(groups_) + " groups, expected " +
                                        std::to_string(expected));
    return netcdf_.finish();
  }

 private:
  static bool is_extended(const BlockEntry& entry) {
    return entry.kind == static_cast<std::uint16_t>(Kind::kExtended);
  }
  static Status differs(const std::string& group, const std::string& what) {
    return Status(Code::kDamaged,
                  "the result is not what was to be written: block \"" + group + "\": " + what);
  }

  Status take(hdf5::GroupBlock written, const std::string& path) {
    NMB_ASSIGN(const std::optional<BlockEntry> entry, reader_.find(written.name));
    if (written.name.empty() && form_.user_block_of() && !form_.user_block_of()->empty())
      NMB_TRY(check_user_block(written, path));
    if (!entry) return {};
    if (!is_extended(*entry)) {
      NMB_ASSIGN(const std::shared_ptr<const Block> source, reader_.block(*entry));
      NMB_ASSIGN(const std::shared_ptr<const Block> group,
                 hdf5::decode_group(std::move(written), path));
      return netcdf_.add_classic(*group, *source, plain_);
    }
    ++groups_;
    std::vector<std::byte> body;
    NMB_ASSIGN(const std::shared_ptr<const Block> block, reader_.block(*entry, &body));
    NMB_ASSIGN(const std::shared_ptr<const Block> expected, form_.written(block));
    if (expected != block || !std::ranges::equal(written.body, body))
      NMB_TRY(compare_definitions(written, *expected, path));
    netcdf_.add(*expected);
    return compare_values(written, *expected);
  }

  Status check_user_block(const hdf5::GroupBlock& root, const std::string& path) const {
    NMB_ASSIGN(const std::shared_ptr<const Block> group, hdf5::decode_group(root, path));
    NMB_ASSIGN(const std::vector<std::byte> found, hdf5::user_block(*group));
    NMB_ASSIGN(const std::shared_ptr<const Block> block, reader_.block(*form_.user_block_of()));
    NMB_ASSIGN(const std::vector<std::byte> expected, hdf5::user_block(*block));
    return found == expected ? Status() : differs("", "another user block");
  }

  // Named datatypes that no link leads to have numbers in place of paths, which say nothing but
  // which are the same.
  Status compare_definitions(const hdf5::GroupBlock& written, const Block& expected,
                             const std::string& path) {
    NMB_ASSIGN(const std::shared_ptr<const Block> group, hdf5::decode_group(written, path));
    Block named = expected;
    auto extension = std::make_shared<Extension>(*expected.metadata.extension());
    hdf5::drop_replaced_parameters(extension.get());
    auto written_extension = std::make_shared<Extension>(*group->metadata.extension());
    hdf5::drop_replaced_parameters(written_extension.get());
    const TypeTable& found = group->metadata.extension()->types;
    TypeTable types;
    for (std::size_t i = 0; i < extension->types.size(); ++i) {
      ExtendedType type = extension->types[i];
      if (i < found.size() && type.name.starts_with("//") && found[i].name.starts_with("//")) {
        const auto [known, is_new] = unlinked_.emplace(found[i].name, type.name);
        if (known->second == type.name) type.name = found[i].name;
      }
      NMB_TRY(types.add(std::move(type)).status());
    }
    extension->types = std::move(types);
    named.metadata.set_extension(std::move(extension));
    Block as_written = *group;
    as_written.metadata.set_extension(std::move(written_extension));
    NMB_ASSIGN(const std::vector<std::byte> found_body, encoded(as_written));
    NMB_ASSIGN(const std::vector<std::byte> expected_body, encoded(named));
    return found_body == expected_body ? Status()
                                       : differs(written.name, "HDF5 writes other definitions");
  }

  static Result<std::vector<std::byte>> encoded(const Block& block) {
    Metadata metadata = block.metadata;
    for (VarId v = 0; v < metadata.variable_count(); ++v)
      metadata.set_begin(v, metadata.begin(v) - block.layout.header_length);
    return encode_extended_body(metadata, metadata.record_dimension() ? block.records : 0);
  }

  static Status compare_values(const hdf5::GroupBlock& written, const Block& expected) {
    if (written.extent_length != expected.extent->size())
      return differs(written.name, "found " + std::to_string(written.extent_length) +
                                       " bytes of values, expected " +
                                       std::to_string(expected.extent->size()));
    constexpr std::uint64_t kWindow = 1 << 20;
    std::vector<std::byte> a(kWindow), b(kWindow);
    for (std::uint64_t at = 0; at < written.extent_length; at += kWindow) {
      const auto part = static_cast<std::size_t>(std::min(kWindow, written.extent_length - at));
      NMB_TRY(written.extent->read_at(at, std::span(a).first(part)));
      NMB_TRY(expected.extent->read_at(at, std::span(b).first(part)));
      if (!std::equal(a.begin(), a.begin() + static_cast<std::ptrdiff_t>(part), b.begin()))
        return differs(written.name, "other values between bytes " + std::to_string(at) + " and " +
                                         std::to_string(at + part));
    }
    return {};
  }

  const Reader& reader_;
  const hdf5::Hdf5Form& form_;
  const bool plain_;  // ExtractOptions::plain
  hdf5::NetcdfCheck netcdf_;
  std::map<std::string, std::string> unlinked_;  // named datatypes: as found, as expected
  std::uint64_t groups_ = 0;
};

Status check_losses(const hdf5::Hdf5Form& form) {
  const std::size_t count = form.losses().size();
  if (count == 0) return {};
  return Status(Code::kConflict,
                form.losses().front().line() +
                    (count > 1 ? ", and " + std::to_string(count - 1) + " more" : std::string()));
}

Status write_alone(const Reader& reader, const std::string& input, const std::string& path,
                   const ExtractOptions& options) {
  CreateOptions create;
  create.overwrite = options.overwrite;
  create.sync = options.sync;
  create.cancel = options.cancel;
  NMB_ASSIGN(const hdf5::Hdf5Form form, hdf5::Hdf5Form::of(reader));
  if (!options.lossy) NMB_TRY(check_losses(form).in_file(input));
  create.make = [&](const std::string& hidden) -> Status {
    const Status made = run_export(input, hidden, path, options);
    // A signal from a terminal ends that process too.
    if (options.cancel && options.cancel->load())
      return Status(Code::kIo, path, kNoOffset, "", "interrupted; nothing was written");
    NMB_TRY(made);
    if (!options.check) return {};
    const Status status = ResultCheck(reader, form, options.plain).run(hidden);
    if (status.ok() || (!status.file().empty() && status.file() != hidden)) return status;
    // Nobody knows the hidden name.
    return Status(status.code(), path, status.offset(), status.rule(), status.message());
  };
  NMB_ASSIGN(std::unique_ptr<OutputFile> output, create_output(path, create));
  if (options.layer) output = options.layer(std::move(output));
  if (options.sync) NMB_TRY(output->sync());
  return output->publish();
}

}  // namespace

Result<std::vector<Loss>> hdf5_losses(const Reader& reader, std::vector<Loss>* changes) {
  NMB_ASSIGN(const hdf5::Hdf5Form form, hdf5::Hdf5Form::of(reader));
  if (changes) *changes = form.changes();
  return form.losses();
}

Status write_hdf5(const Reader& reader, const std::string& input, const std::string& path,
                  const ExtractOptions& options, Communicator& ranks) {
  Status status;
  if (ranks.rank() == 0) status = write_alone(reader, input, path, options);
  return ranks.agree(status);
}

}  // namespace nmb
