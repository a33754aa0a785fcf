#include "nminspect/layout/layout_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "common/command_line/interrupt.h"
#include "common/printing/json_document.h"
#include "common/printing/table.h"
#include "common/printing/units.h"
#include "convert/convert.h"
#include "files/files.h"
#include "model/text.h"
#include "nminspect/layout/layout_look.h"

namespace nmb::tools {

LayoutCommand::LayoutCommand(Tool& tool)
    : InspectCommand(
          tool, "layout",
          {"Shows what each byte of a file holds: a map of the file.",
           "Shows how many bytes are metadata, values, index, dead space and so on, the parts with "
           "the most bytes, and the dead ranges. On a terminal, the command also shows a map: each "
           "character stands for an equal part of the file, and is the letter of the kind that has "
           "the most bytes there. Elsewhere, the first column of each line is kind, block "
           "(original, variable, records) or dead. With --jsonl, each line describes a region, in "
           "the order of the file.\n"
           "For NMB files, the head and all pages are read, but no headers or bodies of blocks and "
           "no values. Kinds: head; superblock (slots and trailers); dictionary; index; data map "
           "(with growth pages); table (file table, statistics, tags, lists of dead space, "
           "sections); metadata (headers and bodies of blocks); values (of blocks, with padding); "
           "original (input files that are stored whole; blocks may refer to values in them); HDF5 "
           "view; dead (old values and metadata, which nmconvert --repack removes); unused (bytes "
           "that belong to nothing); uncommitted (bytes after the last commit). In a classic file, "
           "head is the header, and if the records would have more than 65,536 regions, all "
           "records are one region. HDF5 files are not supported.\n"
           "--html writes one page that needs no other file and no network. The page shows the "
           "map, with zoom, search by name and filters, and can be used with the keyboard alone. A "
           "page can have 1,000,000 regions.",
           "  nminspect layout run.nmb\n"
           "  nminspect layout run.nmb --html run.html\n"
           "  nminspect layout run.nmb --svg run.svg\n"
           "  nminspect layout --json run.nmb"}) {
  CLI::Option* const svg = command_.add_option("--svg", svg_, "write the map as a picture to OUT");
  CLI::Option* const html = command_.add_option("--html", html_, "write the map as a page to OUT");
  svg->type_name("OUT");
  html->type_name("OUT")->excludes(svg);
  command_.add_flag("-f,--force", force_, "replace an existing OUT");
  command_.add_flag("--no-sync", no_sync_, "do not wait until OUT is on the storage device");
  limit_option_ =
      command_
          .add_option("--limit", limit_,
                      "list at most N parts and N dead ranges, the largest (default: 5)")
          ->type_name("N")
          ->check(whole_number());
  tool.offer_json(command_);
  tool.offer_jsonl(command_);
  tool.offer_bytes(command_);
  offer_progress(Reads::kPart);
  command_.get_option("--color")->description(
      "colour of messages and of the map: auto, always or never");
}

Status LayoutCommand::execute() {
  const CommonOptions& options = tool_.options();
  const bool writes_file = !svg_.empty() || !html_.empty();
  if ((options.json && options.jsonl) || (writes_file && (options.json || options.jsonl)))
    return Status(Code::kUsage, "--json, --jsonl, --svg and --html exclude each other");
  if (!writes_file && (force_ || no_sync_))
    return Status(Code::kUsage,
                  std::string(force_ ? "-f" : "--no-sync") + " needs --svg or --html");
  if (limit_option_->count() > 0 && (options.jsonl || !html_.empty()))
    return Status(Code::kUsage, std::string("--limit and ") +
                                    (options.jsonl ? "--jsonl" : "--html") + " exclude each other");
  return InspectCommand::execute();
}

static std::uint64_t size_of(const Layout& layout) {
  return layout.regions.empty() ? 0 : layout.regions.back().end();
}

Status LayoutCommand::run(const InspectedFile& file) {
  if (file.file().kind() == FileKind::kHdf5)
    return Status(Code::kUnsupported,
                  "a layout of HDF5 files is not supported; nmconvert makes an NMB file");
  if (!svg_.empty() || !html_.empty()) NMB_TRY(check_outputs(file));
  NMB_ASSIGN(const Layout layout, layout_of(file.file()));
  if (!svg_.empty() || !html_.empty()) return write_file(file, layout);
  if (tool_.options().json) return write_document(file, layout);
  if (tool_.options().jsonl) return write_lines(file, layout);
  return tool_.out().terminal() ? write_text(file, layout) : write_columns(file, layout);
}

Status LayoutCommand::check_outputs(const InspectedFile& file) const {
  OutputSet outputs;
  const std::string& path = svg_.empty() ? html_ : svg_;
  NMB_TRY(outputs.add_output(path, false));
  NMB_TRY(outputs.check_input(file.file().name(), "input"));
  if (const FileReader* const reader = file.reader()) NMB_TRY(check_references(outputs, *reader));
  return check_new_output(path, {.overwrite = force_});
}

// --- text ---

Status LayoutCommand::write_map(const Layout& layout) {
  constexpr std::size_t kRows = 4;
  const std::size_t width = terminal_width();
  const std::vector<BytesOfKinds> parts = parts_of(layout, kRows * width);
  const bool colour = use_colour(tool_.options().colour, STDOUT_FILENO);
  std::string out;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const RegionKind kind = main_kind(parts[i]);
    const bool begins = i % width == 0 || kind != main_kind(parts[i - 1]);
    if (colour && begins) out += on_background(look_of(kind).terminal);
    out += look_of(kind).letter;
    if ((i + 1) % width == 0 || i + 1 == parts.size())
      out += colour ? std::string(kEndOfColour) + "\n" : "\n";
  }
  return tool_.out().write(out + "\n");
}

Status LayoutCommand::write_text(const InspectedFile& file, const Layout& layout) {
  const bool exact = tool_.options().bytes;
  LayoutTotals totals = totals_of(layout, limit_);
  NMB_ASSIGN(const OwnerNames names, OwnerNames::read(file, layout, &totals.largest));
  constexpr auto kRight = Table::Align::kRight;
  Table kinds(tool_.out(),
              {{""}, {"kind"}, {"bytes", kRight}, {"share", kRight}, {"regions", kRight}});
  for (std::size_t k = 0; k < kRegionKinds; ++k) {
    if (totals.regions[k] == 0) continue;
    const auto kind = static_cast<RegionKind>(k);
    NMB_TRY(
        kinds.row({std::string(1, look_of(kind).letter), std::string(region_name(kind)),
                   bytes_text(totals.bytes[k], exact), share_text(totals.bytes[k], size_of(layout)),
                   std::to_string(totals.regions[k])}));
  }
  NMB_TRY(kinds.finish());
  NMB_TRY(tool_.out().write("\n"));
  NMB_TRY(write_map(layout));
  if (!totals.largest.empty()) {
    Table largest(tool_.out(), {{"largest"}, {"bytes", kRight}, {"position", kRight}, {"name"}});
    for (const OwnerTotal& total : totals.largest)
      NMB_TRY(largest.row({std::string(owner_word(total.owner.of)), bytes_text(total.bytes, exact),
                           std::to_string(total.position), names.of(total.owner)}));
    NMB_TRY(largest.finish());
  }
  if (totals.dead.empty()) return {};
  const std::vector<Region> dead = largest_first(std::move(totals.dead));
  Table ranges(tool_.out(), {{"dead range"}, {"bytes", kRight}});
  for (std::size_t i = 0; i < dead.size() && i < limit_; ++i)
    NMB_TRY(ranges.row({fmt::format("{} to {}", dead[i].position, dead[i].end()),
                        bytes_text(dead[i].length, exact)}));
  if (limit_ > 0) NMB_TRY(tool_.out().write("\n"));
  NMB_TRY(ranges.finish());
  if (dead.size() > limit_)
    NMB_TRY(tool_.out().write(fmt::format("and {} more dead range{}\n", dead.size() - limit_,
                                          dead.size() - limit_ == 1 ? "" : "s")));
  return {};
}

Status LayoutCommand::write_columns(const InspectedFile& file, const Layout& layout) {
  const bool exact = tool_.options().bytes;
  LayoutTotals totals = totals_of(layout, limit_);
  NMB_ASSIGN(const OwnerNames names, OwnerNames::read(file, layout, &totals.largest));
  const auto line = [&](std::vector<std::string> cells) {
    Table table(tool_.out(), std::vector<Table::Column>(cells.size(), {""}));
    return table.row(std::move(cells));
  };
  for (std::size_t k = 0; k < kRegionKinds; ++k)
    if (totals.regions[k] > 0)
      NMB_TRY(
          line({"kind", std::string(region_name(static_cast<RegionKind>(k))),
                bytes_text(totals.bytes[k], exact), share_text(totals.bytes[k], size_of(layout)),
                std::to_string(totals.regions[k])}));
  for (const OwnerTotal& total : totals.largest)
    NMB_TRY(line({std::string(owner_word(total.owner.of)), names.of(total.owner),
                  bytes_text(total.bytes, exact), std::to_string(total.position)}));
  const std::vector<Region> dead = largest_first(std::move(totals.dead));
  for (std::size_t i = 0; i < dead.size() && i < limit_; ++i)
    NMB_TRY(line({"dead", std::to_string(dead[i].position), bytes_text(dead[i].length, exact)}));
  return {};
}

// --- JSON ---

Status LayoutCommand::write_document(const InspectedFile& file, const Layout& layout) {
  const LayoutTotals totals = totals_of(layout, limit_);
  NMB_ASSIGN(const OwnerNames names, OwnerNames::read(file, layout, &totals.largest));
  Json json = json_document("layout");
  json["file"] = json_text(file.file().name());
  json["kind"] = kind_name(layout.kind);
  json["size"] = size_of(layout);
  if (layout.generation > 0) json["generation"] = layout.generation;
  json["regions"] = layout.regions.size();
  json["kinds"] = Json::array();
  for (std::size_t k = 0; k < kRegionKinds; ++k)
    if (totals.regions[k] > 0)
      json["kinds"].push_back({{"kind", region_name(static_cast<RegionKind>(k))},
                               {"bytes", totals.bytes[k]},
                               {"regions", totals.regions[k]}});
  json["largest"] = Json::array();
  for (const OwnerTotal& total : totals.largest)
    json["largest"].push_back({{"part", owner_word(total.owner.of)},
                               {"name", json_text(names.of(total.owner))},
                               {"bytes", total.bytes},
                               {"position", total.position}});
  json["dead"] = Json::array();
  const std::vector<Region> dead = largest_first(totals.dead);
  for (std::size_t i = 0; i < dead.size() && i < limit_; ++i)
    json["dead"].push_back({{"position", dead[i].position}, {"bytes", dead[i].length}});
  return write_json(tool_.out(), json);
}

Status LayoutCommand::write_lines(const InspectedFile& file, const Layout& layout) {
  NMB_ASSIGN(const OwnerNames names, OwnerNames::read(file, layout));
  for (const Region& region : layout.regions) {
    Json json{{"position", region.position},
              {"bytes", region.length},
              {"kind", region_name(region.kind)}};
    if (region.owner.of != RegionOwner::Of::kFile) {
      json["part"] = owner_word(region.owner.of);
      json["name"] = json_text(names.of(region.owner));
    }
    NMB_TRY(write_json(tool_.out(), json, JsonLayout::kLine));
  }
  return {};
}

// --- files ---

Status LayoutCommand::write_file(const InspectedFile& file, const Layout& layout) {
  NMB_ASSIGN(const OwnerNames names, OwnerNames::read(file, layout));
  const MappedFile mapped{file.file().name(), std::string(kind_name(layout.kind)), layout, names};
  const std::string& path = svg_.empty() ? html_ : svg_;
  const std::atomic<bool>* const cancel = catch_interrupts();
  NMB_ASSIGN(const std::unique_ptr<OutputFile> out,
             create_output(path, {.overwrite = force_, .sync = !no_sync_, .cancel = cancel}));
  std::uint64_t at = 0;
  const auto sink = [&](std::string_view text) -> Status {
    NMB_TRY(out->write_at(at, std::as_bytes(std::span(text))));
    at += text.size();
    return {};
  };
  NMB_TRY(html_.empty() ? write_layout_svg(mapped, totals_of(layout, limit_), sink)
                        : write_layout_page(mapped, sink));
  if (!no_sync_) NMB_TRY(out->sync());
  return out->publish();
}

}  // namespace nmb::tools
