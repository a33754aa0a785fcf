#include "common/command_line/option_names.h"

#include <string_view>
#include <utility>

namespace nmb::tools {

namespace {

// No name is the beginning of another.
constexpr std::pair<std::string_view, std::string_view> kNames[] = {
    {"Agreement::first_values", "--shared=first"},
    {"BlockChoice::excludes", "--exclude"},
    {"BlockChoice::names", "--blocks-from"},
    {"BlockChoice::shard", "--shard"},
    {"BlockChoice::where", "--where"},
    {"BlockRule::keep_unmatched", "--unmatched=keep"},
    {"ExternalPaths::kAny", "--external any"},
    {"ExternalPaths::kBeneath", "--external=beneath"},
    {"ExtractOptions::plain", "--to hdf5"},
    {"FileKind::kHdf5", "--to nc4 or --to hdf5"},
    {"Hdf5View::kOn", "--hdf5-view on"},
    {"Join::along", "--along"},
    {"Join::rebase_times", "--time-units=rebase"},
    {"Locking::kIfPossible", "--no-lock"},
    {"MergeOptions::block_by", "--split-names"},
    {"MergeOptions::block_name", "--block-name"},
    {"MergeOptions::dry_run", "--dry-run"},
    {"MergeOptions::external", "--external"},
    {"MergeOptions::mode", "--mode"},
    {"MergeOptions::originals", "originals"},
    {"MergeOptions::replace", "-f"},
    {"MergeOptions::resume", "--resume"},
    {"MergeOptions::statistics", "--stats"},
    {"MergeOptions::storing", "--compress"},
    {"MergeOptions::strict", "--strict"},
    {"MergeOptions::tag_names", "--tag-names"},
    {"MergeOptions::tags", "--tag"},
    {"MergeOptions::to", "OUT"},
    {"Pack::append", "--append"},
    {"Pack::link", "--link"},
    {"Pack::replace", "--replace"},
    {"PackOptions::classic", "--to cdf5"},
    {"PackOptions::inputs", "files or use --files-from"},
    {"PackOptions::subset", "--variables, --slab, --time or --box"},
    {"PackOptions::unique_groups", "--unique"},
    {"PieceCodec::kDeflate", "--compress deflate"},
    {"Storing::chunk", "--chunk"},
    {"Storing::shuffle", "--shuffle"},
    {"SubsetRules::slabs", "--slab"},
    {"VerifyLevel::kData", "--level data"},
};

}  // namespace

std::string with_option_names(std::string message) {
  if (message.ends_with("the file exists")) message += "; use -f to replace it";
  if (message.find(" without values in the output; ") != message.npos)
    message += "; use --lossy to write the rest";
  if (message.find("::") == message.npos) return message;
  for (const auto& [name, option] : kNames)
    for (std::size_t at = 0; (at = message.find(name, at)) != message.npos; at += option.size())
      message.replace(at, name.size(), option);
  return message;
}

}  // namespace nmb::tools
