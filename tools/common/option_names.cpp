// Spells the options of the library as options of the tools (see option_names.h).
#include "common/option_names.h"

#include <string_view>
#include <utility>

namespace nmb::tools {

namespace {

// No name is the beginning of another.
constexpr std::pair<std::string_view, std::string_view> kNames[] = {
    {"BlockChoice::excludes", "--exclude"},
    {"BlockChoice::names", "--blocks-from"},
    {"BlockChoice::shard", "--shard"},
    {"BlockChoice::where", "--where"},
    {"BlockRule::keep_unmatched", "--unmatched=keep"},
    {"Compression::chunk", "--chunk"},
    {"Compression::shuffle", "--shuffle"},
    {"ExtractOptions::plain", "--to hdf5"},
    {"ExternalPaths::kAny", "--external any"},
    {"ExternalPaths::kBeneath", "--external=beneath"},
    {"Hdf5View::kOn", "--hdf5-view on"},
    {"Join::along", "--along"},
    {"Locking::kIfPossible", "--no-lock"},
    {"Originals::kDrop", "--no-originals"},
    {"OutputOptions::overwrite", "-f"},
    {"Pack::append", "--append"},
    {"Pack::link", "--link"},
    {"Pack::replace", "--replace"},
    {"PackOptions::block_by", "--split-names"},
    {"PackOptions::block_name", "--block-name"},
    {"PackOptions::classic", "--to cdf5"},
    {"PackOptions::compression", "--compress"},
    {"PackOptions::external", "--external"},
    {"PackOptions::hdf5", "--to nc4 or --to hdf5"},
    {"PackOptions::inputs", "files or use --files-from"},
    {"PackOptions::mode", "--mode"},
    {"PackOptions::output", "OUT"},
    {"PackOptions::resume", "--resume"},
    {"PackOptions::strict", "--strict"},
    {"PackOptions::tag_names", "--tag-names"},
    {"PackOptions::tags", "--tag"},
    {"PackOptions::unique_groups", "--unique"},
    {"PieceCodec::kDeflate", "--compress deflate"},
    {"RefusedLosses::kNone", "--lossy"},
    {"VerifyLevel::kData", "--level data"},
    {"WriterOptions::dry_run", "--dry-run"},
    {"WriterOptions::statistics", "--stats"},
};

}  // namespace

std::string with_option_names(std::string message) {
  if (message.find("::") == message.npos) return message;
  for (const auto& [name, option] : kNames)
    for (std::size_t at = 0; (at = message.find(name, at)) != message.npos; at += option.size())
      message.replace(at, name.size(), option);
  return message;
}

}  // namespace nmb::tools
