// The map of a file as a page (see layout_files.h). The page is layout/page/page.html with the
// script layout/page/page.js. The data of the page are one JSON object:
//
//   file, format, generation   texts and a number for the heading
//   kinds                      names of the kinds
//   kind_of                    one letter for each region, in order of position: "a" is kind 0
//   lengths                    lengths of the regions in base 36, separated by spaces
//   owners                     "-" for a region without owner; otherwise the index of the owner's
//                              name, minus the index of the owner before it, in base 36
//   names                      names of the owners, made printable (model/text.h)
#include "nminspect/layout/layout_page.h"

#include <array>
#include <charconv>
#include <map>

#include "common/printing/json_document.h"
#include "compare/compare.h"
#include "model/text.h"
#include "nminspect/layout/layout_files.h"
#include "nminspect/layout/layout_look.h"

namespace nmb::tools {

namespace {

constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 53;

// Returns the JSON text without "<", so that no text ends the script that contains the JSON.
std::string script_json(const Json& json) {
  std::string out;
  for (const char c : json.dump(-1, ' ', true)) {
    if (c == '<')
      out += "\\u003c";
    else
      out += c;
  }
  return out;
}

void put_number(std::int64_t number, std::string* out) {
  std::array<char, 24> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number, 36).ptr;
  out->append(digits.data(), end);
}

// Returns the SHA-256 of a script in base 64, as a content security policy contains it.
Result<std::string> policy_hash(std::string_view script) {
  NMB_ASSIGN(const Sha256 digest, sha256(MemorySource(std::as_bytes(std::span(script)))));
  constexpr std::string_view kLetters =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  std::uint32_t bits = 0;
  int held = 0;
  for (const std::byte byte : digest) {
    bits = bits << 8 | std::to_integer<unsigned>(byte);
    for (held += 8; held >= 6; held -= 6) out += kLetters[bits >> (held - 6) & 63];
  }
  // 32 bytes are 42 letters and 4 bits.
  return out + kLetters[bits << 2 & 63] + "=";
}

Status write_data(const MappedFile& file, const TextSink& sink) {
  const std::vector<Region>& regions = file.layout.regions;
  Json head{{"file", printable(file.name)},
            {"format", file.format},
            {"generation", file.layout.generation},
            {"kinds", Json::array()}};
  for (std::size_t k = 0; k < kRegionKinds; ++k)
    head["kinds"].push_back(region_name(static_cast<RegionKind>(k)));
  std::string text = script_json(head);
  text.back() = ',';  // in place of the closing brace

  text += "\n\"names\":[";
  std::map<std::pair<RegionOwner::Of, std::uint32_t>, std::int64_t> index;
  Status status;
  file.names.for_each([&](RegionOwner owner, const std::string& name) {
    text += index.empty() ? "\n" : ",\n";
    index.emplace(std::pair(owner.of, owner.number), index.size());
    text += script_json(printable(name));
    if (text.size() < 64 * 1024 || !status.ok()) return;
    status = sink(text);
    text.clear();
  });
  NMB_TRY(status);
  text += "],\n\"kind_of\":\"";
  for (const Region& region : regions)
    text += static_cast<char>('a' + static_cast<int>(region.kind));
  text += "\",\n\"lengths\":\"";
  for (const Region& region : regions) {
    if (region.position > 0) text += ' ';
    put_number(static_cast<std::int64_t>(region.length), &text);
  }
  text += "\",\n\"owners\":\"";
  std::int64_t last = 0;
  for (const Region& region : regions) {
    if (region.position > 0) text += ' ';
    if (region.owner.of == RegionOwner::Of::kFile) {
      text += '-';
      continue;
    }
    const std::int64_t name = index.at({region.owner.of, region.owner.number});
    put_number(name - last, &text);
    last = name;
  }
  return sink(text + "\"}");
}

}  // namespace

Status write_layout_page(const MappedFile& file, const TextSink& sink) {
  const std::vector<Region>& regions = file.layout.regions;
  if (regions.size() > kMostPageRegions)
    return Status(Code::kLimit, std::to_string(regions.size()) + " regions; a page can have " +
                                    std::to_string(kMostPageRegions) + "; --svg has no such limit");
  if (!regions.empty() && regions.back().end() >= kMostBytes)
    return Status(Code::kLimit, "a page can show less than 2^53 bytes; --svg has no such limit");
  NMB_ASSIGN(const std::string hash, policy_hash(layout_page_script()));
  std::string_view rest = layout_page_html();
  while (!rest.empty()) {
    const std::size_t open = rest.find("{{");
    NMB_TRY(sink(rest.substr(0, open)));
    if (open == rest.npos) break;
    const std::size_t close = rest.find("}}", open);
    const std::string_view what = rest.substr(open + 2, close - open - 2);
    rest.remove_prefix(close + 2);
    if (what == "DATA") NMB_TRY(write_data(file, sink));
    if (what == "SCRIPT") NMB_TRY(sink(layout_page_script()));
    if (what == "HASH") NMB_TRY(sink(hash));
    if (what == "TITLE") NMB_TRY(sink(markup_text("Layout of " + printable(file.name))));
    if (what == "LIGHT") NMB_TRY(sink(light_colours()));
    if (what == "DARK") NMB_TRY(sink(dark_colours()));
  }
  return {};
}

}  // namespace nmb::tools
