#include "common/command_line/option_names.h"

#include <string_view>
#include <utility>

namespace nmb::tools {

namespace {

// A name comes before the names that are its beginning.
constexpr std::pair<std::string_view, std::string_view> kNames[] = {
    {"BlockChoice::excludes", "--exclude"},
    {"BlockChoice::names", "--blocks-from"},
    {"BlockChoice::shard", "--shard"},
    {"BlockChoice::where", "--where"},
    {"BlockRule::By::kPrefix", "--split-names"},
    {"BlockRule::keep_unmatched", "--unmatched=keep"},
    {"ExternalPaths::kAny", "--external any"},
    {"ExternalPaths::kBeneath", "--external=beneath"},
    {"FileKind::kCdf1", "cdf1"},
    {"FileKind::kCdf2", "cdf2"},
    {"FileKind::kCdf5", "cdf5"},
    {"FileKind::kHdf5 with MergeOptions::netcdf = false", "hdf5"},
    {"use FileKind::kHdf5", "use --to nc4 or --to hdf5"},
    {"FileKind::kHdf5", "nc4"},
    {"FileKind::kNmb", "nmb"},
    {"Hdf5View::kOn", "--hdf5-view on"},
    {"Join::along", "--along"},
    {"Join::key", "--key"},
    {"Join::rebase_times", "--time-units=rebase"},
    {"MergeOptions::block_by", "--split-names"},
    {"MergeOptions::block_name", "--block-name"},
    {"MergeOptions::dry_run", "--dry-run"},
    {"MergeOptions::external", "--external"},
    {"MergeOptions::mode", "--mode"},
    {"MergeOptions::netcdf = false", "--to hdf5"},
    {"MergeOptions::originals", "originals"},
    {"MergeOptions::replace", "-f"},
    {"MergeOptions::resume", "--resume"},
    {"MergeOptions::samples", "--samples"},
    {"MergeOptions::statistics", "--stats"},
    {"MergeOptions::storing", "--compress"},
    {"MergeOptions::strict", "--strict"},
    {"MergeOptions::tag_names", "--tag-names"},
    {"MergeOptions::tags", "--tag"},
    {"MergeOptions::to", "OUT"},
    {"Pack::append", "--append"},
    {"Pack::digests", "--digest"},
    {"Pack::link", "--link"},
    {"Pack::replace", "--replace"},
    {"PackOptions::classic", "--to cdf5"},
    {"PackOptions::inputs", "files or use --files-from"},
    {"PackOptions::subset", "--variables, --slab, --time or --box"},
    {"PackOptions::unique_groups", "--unique"},
    {"Storing::chunk", "--chunk"},
    {"Storing::codec \"deflate\"", "--compress deflate"},
    {"Storing::codec \"none\"", "--compress none"},
    {"Storing::shuffle", "--shuffle"},
    {"SubsetRules::slabs", "--slab"},
    {"VerifyLevel::kData", "--level data"},
};

}  // namespace

std::string with_option_names(std::string message) {
  if (message.ends_with("the file exists")) message += "; use -f to replace it";
  if (message.find(": the file system does not support locks") != message.npos)
    message += "; if no other program does, use --no-lock";
  if (message.find(", which can hold chunks; ") != message.npos)
    message += "; the ending .nc4 means nc4";
  if (message.find(" without values in the output; ") != message.npos)
    message += "; use --lossy to write the rest";
  if (message.find("::") == message.npos) return message;
  for (const auto& [name, option] : kNames)
    for (std::size_t at = 0; (at = message.find(name, at)) != message.npos; at += option.size())
      message.replace(at, name.size(), option);
  return message;
}

}  // namespace nmb::tools
