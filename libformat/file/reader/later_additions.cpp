#include "reader/later_additions.h"

#include <cstdint>
#include <set>
#include <utility>

#include "model/sections.h"
#include "superblock/features.h"
#include "superblock/page_chain.h"
#include "wire/joined_text.h"

namespace nmb {

namespace {

class Additions {
 public:
  explicit Additions(const ReaderCore& core)
      : core_(core), superblock_(core.head().superblock), file_(core.file()) {}

  Result<std::vector<std::string>> find() {
    note_bits("compatible feature bit ", superblock_.compatible & ~kKnownCompatible);
    note_bits("read-only compatible feature bit ",
              superblock_.readonly_compatible & ~kKnownReadonly);
    for (std::size_t i = 0; i < superblock_.later_places.size(); ++i)
      if (!superblock_.later_places[i].absent())
        texts_.push_back(joined_text("structure number ", i, " after the superblock"));
    NMB_TRY(note_sections());
    NMB_TRY(note_index());
    NMB_TRY(note_table("pages of statistics", core_.statistics()));
    NMB_TRY(note_table("pages of tags", core_.tags()));
    NMB_TRY(note_chain("pages of the file table", PageUse::kFileTable, superblock_.file_table));
    NMB_TRY(note_chain("growth pages", PageUse::kGrowth, superblock_.growth));
    for (const auto& [use, id] : columns_)
      texts_.push_back(joined_text("column ", id, " of ", use));
    return std::move(texts_);
  }

 private:
  void note_bits(const char* what, std::uint64_t mask) {
    for (unsigned bit = 0; bit < 64; ++bit)
      if (mask >> bit & 1) texts_.push_back(joined_text(what, bit));
  }

  void note(const char* use, const Page& page) {
    for (const std::uint16_t id : page.unknown_columns()) columns_.emplace(use, id);
  }

  // Does not report damaged sections, because the function that reads the provenance from them
  // does.
  Status note_sections() {
    const Status read =
        read_sections(file_, superblock_.global_sections, kMostSections, !superblock_.all_known(),
                      [&](const SectionFrame& frame, std::string_view) -> Status {
                        if (!frame.is_one_of({kSectionProvenance}))
                          texts_.push_back(joined_text("global section of type ", frame.type));
                        return {};
                      });
    return read.code() == Code::kDamaged || read.code() == Code::kLimit ? Status() : read;
  }

  template <class Tree>
  Status note_tree(const char* use, const Tree& tree, const Page& page) {
    note(use, page);
    for (std::uint32_t row = 0; page.level() > 0 && row < page.rows(); ++row) {
      NMB_ASSIGN(const std::shared_ptr<const Page> child, tree.child(page, row));
      NMB_TRY(note_tree(use, tree, *child));
    }
    return {};
  }

  Status note_index() {
    if (superblock_.height == 0) return {};
    NMB_ASSIGN(const std::shared_ptr<const Page> root, core_.index().root());
    NMB_TRY(note_tree("pages of the index", core_.index(), *root));
    return core_.index().for_each({}, [&](const BlockEntry& entry) -> Result<bool> {
      if (!entry.has_map()) return true;
      const DataMap map = core_.map_of(entry);
      NMB_ASSIGN(const std::shared_ptr<const Page> pages, map.root());
      NMB_TRY(note_tree("pages of data maps", map, *pages));
      return true;
    });
  }

  // Does not report a damaged table, because the function that reads its rows does.
  Status note_table(const char* use, const BlockTable& table) {
    const auto read = [&]() -> Status {
      NMB_ASSIGN(const std::vector<BlockTable::Tree> trees, table.trees());
      for (const BlockTable::Tree& tree : trees)
        NMB_TRY(table.for_each_page(tree, 0, 1, [&](const Page& page) -> Status {
          note(use, page);
          return {};
        }));
      return {};
    };
    const Status status = read();
    const bool is_told = status.code() == Code::kDamaged || status.code() == Code::kUnsupported;
    return is_told ? Status() : status;
  }

  Status note_chain(const char* use, PageUse of, const Place& newest) {
    if (newest.absent()) return {};
    NMB_ASSIGN(const auto pages,
               read_page_chain(file_, superblock_, of, newest, ~std::uint64_t{0}));
    for (const auto& page : pages) note(use, *page);
    return {};
  }

  const ReaderCore& core_;
  const Superblock& superblock_;
  const ByteSource& file_;
  std::vector<std::string> texts_;
  std::set<std::pair<std::string, std::uint16_t>> columns_;
};

}  // namespace

Result<std::vector<std::string>> later_additions(const ReaderCore& core) {
  return Additions(core).find();
}

}  // namespace nmb
