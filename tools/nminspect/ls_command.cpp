#include "nminspect/ls_command.h"

#include "common/printing/json_document.h"
#include "model/text.h"
#include "nminspect/ls_rows.h"
#include "nminspect/ordered_rows.h"
#include "wire/natural_order.h"

namespace nmb::tools {
namespace {

// Writes rows as a table, as lines of JSON, or as one JSON document.
template <class Row>
class Listing {
 public:
  Listing(Tool& tool, const ListedColumns& listed)
      : out_(tool.out()),
        options_(tool.options()),
        listed_(listed),
        table_(tool.out(), listed.is_long || listed.tags ? Row::columns(listed)
                                                         : std::vector<Table::Column>{{""}}) {}

  Status begin(const InspectedFile& file) {
    if (!options_.json) return {};
    Json json = json_document("ls");
    json["file"] = json_text(file.file().name());
    std::string head = json.dump(-1, ' ', true);
    head.back() = ',';
    return out_.write(head + "\"" + Row::kPlural + "\":[");
  }
  Status row(const Row& row) {
    if (options_.jsonl) return write_json(out_, row.json(listed_), JsonLayout::kLine);
    if (options_.json) {
      NMB_TRY(out_.write(first_ ? "\n" : ",\n"));
      first_ = false;
      return out_.write(row.json(listed_).dump(-1, ' ', true));
    }
    return table_.row(row.cells(listed_, options_.bytes));
  }
  Status end() { return options_.json ? out_.write("\n]}\n") : table_.finish(); }

 private:
  Output& out_;
  const CommonOptions& options_;
  const ListedColumns& listed_;
  bool first_ = true;
  Table table_;
};

template <class Row>
typename OrderedRows<Row>::Less order_by(const std::string& key) {
  if (key == "name")
    return [](const Row& a, const Row& b) { return natural_less(a.name(), b.name()); };
  if (key == "size")
    return [](const Row& a, const Row& b) {
      return a.size() != b.size() ? a.size() > b.size() : natural_less(a.name(), b.name());
    };
  return {};
}

}  // namespace

LsCommand::LsCommand(Tool& tool)
    : InspectCommand(
          tool, "ls",
          {"Lists the names of blocks or objects.",
           std::string(
               "To list the blocks of an NMB file, only the index is read. Blocks are in the order "
               "of the index, which compares the bytes of names. Objects are variables with their "
               "full names; to list them, every block that may contain a match is read. A classic "
               "file has only one block, \"/\", so its objects are listed by default. They are "
               "also listed if GLOB matches objects but "
               "no block: BLOCK/* lists the variables of a block without blocks below it. The "
               "blocks "
               "of an HDF5 file are its groups. With -l, counts and sizes in bytes are shown. A "
               "block has two sizes: the size of its stored header and the size of its values. The "
               "size of an object is the size of its values. With --tags, the tags of blocks are "
               "shown "
               "as NAME=VALUE, with text in quotation marks. With --sort=name, rows are in natural "
               "order (f9 before f10). With --sort=size, the largest block or object comes "
               "first.\n\n") +
               ViewOption::kHelp +
               " Objects are listed by their stored names, and patterns match these names. The "
               "counts of a block include everything that is stored in it.\n\n" +
               PatternOption::kHelp,
           "  nminspect ls run.nmb 'r4952/**'\n"
           "  nminspect ls -l --sort=size --limit 10 run.nmb\n"
           "  nminspect ls --what=objects --jsonl run.nmb '**/energy'\n"
           "  nminspect ls --tags run.nmb\n"
           "  nminspect ls -l tas.nc",
           {"-e", "--view", "-l", "--tags", "--what", "--sort", "--limit", "--json", "--jsonl",
            "--bytes", "--strict"}}) {
  pattern_.offer(command_, "names to list");
  view_.offer(command_);
  command_.add_flag("-l", long_, "also show counts, shapes and bytes");
  command_.add_flag("--tags", tags_, "also show the tags of blocks");
  offer_word(command_, "--what", &what_, "WHAT", {"blocks", "objects"}, "blocks or objects");
  offer_word(command_, "--sort", &sort_, "KEY", {"name", "size"}, "sort by name or size");
  command_.add_option("--limit", limit_, "show at most N rows")
      ->type_name("N")
      ->check(whole_number());
  tool.offer_json(command_);
  tool.offer_jsonl(command_);
  tool.offer_bytes(command_);
  offer_progress(Reads::kPart);
}

template <class Row>
Status LsCommand::list(const InspectedFile& file, const ListedColumns& listed) {
  Listing<Row> listing(tool_, listed);
  OrderedRows<Row> rows(order_by<Row>(sort_), limit_,
                        [&](const Row& row) { return listing.row(row); });
  NMB_TRY(listing.begin(file));
  NMB_TRY(Row::for_each(file, pattern_, view_, [&](Row row) { return rows.add(std::move(row)); }));
  NMB_TRY(rows.finish());
  return listing.end();
}

// Without --what, objects are listed if the file is classic, or if the pattern matches objects but
// no block, for example BLOCK/*.
Result<bool> LsCommand::lists_objects(const InspectedFile& file) const {
  if (!what_.empty()) return what_ == "objects";
  if (file.is_classic()) return true;
  if (!pattern_.text || tags_) return false;
  bool has_block = false, has_object = false;
  NMB_TRY(BlockRow::for_each(file, pattern_, view_, [&](const BlockRow&) -> Result<bool> {
    has_block = true;
    return false;
  }));
  if (has_block) return false;
  NMB_TRY(ObjectRow::for_each(file, pattern_, view_, [&](const ObjectRow&) -> Result<bool> {
    has_object = true;
    return false;
  }));
  return has_object;
}

Status LsCommand::run(const InspectedFile& file) {
  NMB_ASSIGN(const bool objects, lists_objects(file));
  ListedColumns listed{.is_long = long_};
  if (tags_ && objects)
    return Status(Code::kUsage, "--tags lists tags of blocks; use --what=blocks");
  TagsByOrder tags;
  if (tags_) {
    listed.tags = &tags;
    if (file.reader())
      NMB_TRY(file.reader()->for_each_tag([&](std::uint64_t order, Tag tag) -> Result<bool> {
        tags[order].push_back(std::move(tag));
        return true;
      }));
  }
  return objects ? list<ObjectRow>(file, listed) : list<BlockRow>(file, listed);
}

}  // namespace nmb::tools
