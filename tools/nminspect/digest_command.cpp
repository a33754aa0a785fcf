#include "nminspect/digest_command.h"

#include "common/options/block_name.h"
#include "common/printing/json_document.h"
#include "model/text.h"

namespace nmb::tools {

DigestCommand::DigestCommand(Tool& tool)
    : InspectCommand(
          tool, "digest",
          {"Shows digests of the content of a file and its blocks.",
           "The digest does not depend on how a file stores its content. A CDF-1, CDF-5, netCDF-4 "
           "and NMB file of the same data have the same digest, whatever their chunks, compression "
           "and byte order. The order of blocks, variables and attributes does not count. Names, "
           "types, attributes, lengths of dimensions and whether they are unlimited, and all "
           "values "
           "count. Values that were never written count as fill values. Two NaNs are the same "
           "value; 0 and -0 are different values. Attributes that netCDF uses internally do not "
           "count, for example _NCProperties and DIMENSION_LIST. spec/digest.md is the complete "
           "definition.\n"
           "The command prints one line for each block, in the order of names, and a last line for "
           "the file. A line has 32 hexadecimal digits (XXH3, 128 bits), two spaces and the name. "
           "Names of blocks begin with \"/\". If BLOCKs are given, only these blocks are shown, in "
           "the given order. A digest of XXH3 finds accidents, but it is no protection against "
           "forgery.\n"
           "All values are read. If values cannot be decoded or lie in other HDF5 files, the "
           "command fails with exit code 2.",
           "  nminspect digest tas.nc\n"
           "  nminspect digest run.nmb r4952/sr0/evt3\n"
           "  [ \"$(nminspect digest --total a.nc)\" = \"$(nminspect digest --total b.nmb)\" ]"}) {
  CLI::Option* const blocks =
      command_.add_option("BLOCK", blocks_, "show the digests of these blocks only");
  command_.add_flag("--total", total_, "show only the digest of the file, without its name")
      ->excludes(blocks);
  tool.offer_threads(command_);
  tool.offer_memory(command_);
  tool.offer_json(command_);
  offer_progress(Reads::kAll);
}

ContentOptions DigestCommand::options() const {
  ContentOptions options{.threads = tool_.options().threads};
  options.set_memory(tool_.options().memory);
  return options;
}

Status DigestCommand::run(const InspectedFile& file) {
  std::vector<BlockEntry> chosen;
  for (const std::string& name : blocks_) {
    NMB_ASSIGN(std::optional<BlockEntry> entry, file.find(name_from_user(name)));
    if (!entry) return file.no_block(name_from_user(name));
    chosen.push_back(std::move(*entry));
  }
  return tool_.options().json ? run_json(file, chosen) : run_lines(file, chosen);
}

Status DigestCommand::run_lines(const InspectedFile& file, const std::vector<BlockEntry>& chosen) {
  const auto line = [&](const BlockDigest& block) -> Status {
    if (total_) return {};
    return tool_.out().write(digest_text(block.digest) + "  /" + printable(block.block) + "\n");
  };
  if (!chosen.empty()) return digest_blocks(file.content(), chosen, options(), line);
  NMB_ASSIGN(const Digest digest, digest_file(file.content(), options(), line));
  return tool_.out().write(digest_text(digest) +
                           (total_ ? "" : "  " + printable(file.file().name())) + "\n");
}

Status DigestCommand::run_json(const InspectedFile& file, const std::vector<BlockEntry>& chosen) {
  Json json = json_document("digest");
  json["file"] = json_text(file.file().name());
  Json blocks = Json::array();
  const auto add = [&](const BlockDigest& block) -> Status {
    if (!total_)
      blocks.push_back({{"block", json_text(block.block)},
                        {"digest", digest_text(block.digest)},
                        {"empty", block.is_empty}});
    return {};
  };
  if (chosen.empty()) {
    NMB_ASSIGN(const Digest digest, digest_file(file.content(), options(), add));
    json["digest"] = digest_text(digest);
  } else {
    NMB_TRY(digest_blocks(file.content(), chosen, options(), add));
  }
  if (!total_) json["blocks"] = std::move(blocks);
  return write_json(tool_.out(), json);
}

}  // namespace nmb::tools
