// An NMB file as HDF5, by nmb-hdf5 (see nmb/write_hdf5.h).
#include "nmb/write_hdf5.h"

#include <algorithm>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "interop/hdf5_file.h"
#include "interop/hdf5_process.h"
#include "interop/hdf5_stream.h"
#include "nmb/file_source.h"
#include "nmb/output_file.h"

namespace nmb {

namespace {

// Runs `nmb-hdf5 export`; what it says on its error stream is the message. path: what `output` is
// to become.
Status run_export(const std::string& input, const std::string& output, const std::string& path,
                  const std::atomic<bool>* cancel) {
  using hdf5::Hdf5Process;
  NMB_ASSIGN(const std::unique_ptr<Hdf5Process> process,
             Hdf5Process::start({"export", input, output}, Hdf5Process::Tells::kOnError, -1));
  NMB_TRY(process->wait_readable(cancel));
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

Status compare(const hdf5::GroupBlock& written, const Block& expected,
               std::span<const std::byte> body) {
  const std::string object = "block \"" + written.name + "\"";
  const auto differs = [&](const std::string& what) {
    return Status(Code::kDamaged,
                  "the result is not what was to be written: " + object + ": " + what);
  };
  if (!std::ranges::equal(written.body, body)) return differs("HDF5 writes other definitions");
  if (written.extent_length != expected.extent->size())
    return differs("found " + std::to_string(written.extent_length) +
                   " bytes of values, expected " + std::to_string(expected.extent->size()));
  constexpr std::uint64_t kWindow = 1 << 20;
  std::vector<std::byte> a(kWindow), b(kWindow);
  for (std::uint64_t at = 0; at < written.extent_length; at += kWindow) {
    const auto part = static_cast<std::size_t>(std::min(kWindow, written.extent_length - at));
    NMB_TRY(written.extent->read_at(at, std::span(a).first(part)));
    NMB_TRY(expected.extent->read_at(at, std::span(b).first(part)));
    if (!std::equal(a.begin(), a.begin() + static_cast<std::ptrdiff_t>(part), b.begin()))
      return differs("other values between bytes " + std::to_string(at) + " and " +
                     std::to_string(at + part));
  }
  return {};
}

// The groups of the HDF5 file are the blocks of kind 6 that there are.
Status check_result(const Reader& reader, const std::string& hidden) {
  NMB_ASSIGN(const std::shared_ptr<const FileSource> file, FileSource::open(hidden));
  NMB_ASSIGN(const std::shared_ptr<const SpoolFile> spool, SpoolFile::create());
  std::uint64_t groups = 0;
  NMB_TRY(hdf5::read_file(file, spool, [&](hdf5::GroupBlock written) -> Status {
    NMB_ASSIGN(const std::optional<BlockEntry> entry, reader.find(written.name));
    if (!entry || entry->kind != static_cast<std::uint16_t>(Kind::kExtended)) return {};
    ++groups;
    std::vector<std::byte> body;
    NMB_ASSIGN(const std::shared_ptr<const Block> block, reader.block(*entry, &body));
    return compare(written, *block, body);
  }));
  std::uint64_t expected = 0;
  NMB_TRY(reader.for_each_entry("", [&](const BlockEntry& entry) -> Result<bool> {
    if (entry.kind == static_cast<std::uint16_t>(Kind::kExtended)) ++expected;
    return true;
  }));
  if (groups == expected) return {};
  return Status(Code::kDamaged, "the result is not what was to be written: found " +
                                    std::to_string(groups) + " groups, expected " +
                                    std::to_string(expected));
}

Status write_alone(const Reader& reader, const std::string& input, const std::string& path,
                   const ExtractOptions& options) {
  CreateOptions create;
  create.overwrite = options.overwrite;
  create.sync = options.sync;
  create.cancel = options.cancel;
  create.make = [&](const std::string& hidden) -> Status {
    const Status made = run_export(input, hidden, path, options.cancel);
    // A signal from a terminal ends that process too.
    if (options.cancel && options.cancel->load())
      return Status(Code::kIo, path, kNoOffset, "", "interrupted; nothing was written");
    NMB_TRY(made);
    return options.check ? check_result(reader, hidden) : Status();
  };
  NMB_ASSIGN(std::unique_ptr<OutputFile> output, create_output(path, create));
  if (options.layer) output = options.layer(std::move(output));
  if (options.sync) NMB_TRY(output->sync());
  return output->publish();
}

}  // namespace

Status write_hdf5(const Reader& reader, const std::string& input, const std::string& path,
                  const ExtractOptions& options, Communicator& ranks) {
  Status status;
  if (ranks.rank() == 0) status = write_alone(reader, input, path, options);
  return ranks.agree(status);
}

}  // namespace nmb
