// NmbVerifier: walks through an NMB file and reports each violation of a rule in spec/format.md.
// Its functions are in the files verify_*.cpp, one file for each part of the specification.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "extent/file_table.h"
#include "extent/growth.h"
#include "page/page.h"
#include "reader/reader_core.h"
#include "superblock/head.h"
#include "superblock/identity.h"
#include "superblock/view_header.h"
#include "verify/chunk_checker.h"
#include "verify/metered_source.h"
#include "verify/original_digests.h"
#include "verify/region_list.h"
#include "verify/space_map.h"
#include "verify/value_checker.h"
#include "verify/verify.h"

namespace nmb {

class NmbVerifier {
 public:
  // If `regions` is given, the verifier adds all regions of the file to the list. It then also
  // walks through data maps at level kIndex, and does not check the sums of bytes at a place.
  NmbVerifier(const ByteSource& file, const VerifierOptions& options, Findings& findings,
              RegionList* regions = nullptr);
  // Fails if nothing could be read.
  Result<VerifySummary> run();
  // Returns whether run() found all structures of the file.
  bool found_all() const { return found_all_; }
  std::uint64_t generation() const { return superblock().generation; }
  // Returns whether the bytes of an original are dead space: its block was replaced or removed, and
  // no piece of a block lies in it. row: the row in the file table. Valid after run().
  bool is_dead_space(std::uint32_t row) const {
    return is_dead_original(row) && !used_files_.contains(row + 1);
  }

 private:
  // A name in a page, and the position of the name in the file.
  struct Separator {
    std::string_view name;
    std::uint64_t offset = 0;
  };
  // A row in a leaf page of the index. A row describes one block.
  struct EntryRow {
    const Page& page;
    std::uint32_t row;
    BlockEntry entry;
    std::uint64_t at(Column column) const { return page.value_offset(row, column); }
    std::uint64_t value(Column column) const { return page.value(row, column); }
  };
  // The state of a walk through a data map: where the next piece must begin, and whether all pieces
  // so far are contiguous.
  struct MapWalk {
    std::string object;
    std::uint64_t owner = 0;
    bool is_original = false;
    OriginalDigests* digests = nullptr;  // set if the file's digests are checked
    std::uint64_t pieces = 0;            // number of pieces so far
    std::uint64_t not_digested = 0;      // bytes of pieces that are not in the digests yet
    bool pages_only = false;             // true for a block with unknown needs
    std::uint64_t next = 0;
    std::uint64_t first_position = 0;
    std::uint64_t run_end = 0;  // position in the file where the last piece ends
    bool any = false;
    bool one_run = true;
    std::map<std::uint64_t, SpaceMap> taken;  // bytes of other files, by file number (R-EX-17)
  };

  // These functions in verify_head.cpp check the head of the file (sections 3 to 5).
  bool read_head(const Choice& choice);
  void check_identity(const Choice& choice);
  void check_cover(const Choice& choice);
  bool check_superblock();
  Status find_new_part();
  void check_fixed_bytes();
  void check_trailer();
  void check_previous_trailers();
  bool check_previous_trailer(const Superblock& current, std::uint64_t placed_at,
                              Superblock* previous);
  void check_features();

  // These functions in verify_places.cpp check structures to which the superblock or an index entry
  // refers (sections 8.3, 9 and 12).
  void check_places();
  void check_dictionary();
  std::optional<std::vector<std::byte>> check_dictionary_block(const Place& place,
                                                               std::span<const std::byte> copy);
  void check_global_sections();
  void check_file_table();
  void check_original(const ReaderCore& core, std::uint32_t row);
  bool is_dead_original(std::uint32_t row) const;
  void count_originals();
  void check_digests(std::uint32_t row, OriginalDigests* digests);
  bool check_place(const Place& place, const char* rule, std::uint64_t placed_at,
                   const std::string& object, RegionKind kind = RegionKind::kTable);
  void check_sections(const Place& place, const std::string& object,
                      std::initializer_list<std::uint16_t> known);

  // These functions in verify_index.cpp check the index (section 7).
  void check_index();
  void check_index_run(std::uint64_t position, std::uint64_t length);
  void check_index_page(const Page& page, std::optional<Separator> low,
                        std::optional<Separator> high);
  void check_names(const Page& page, std::optional<Separator> low, std::optional<Separator> high);
  void check_child_summary(const Page& page, std::uint32_t row, const Page& child);
  void check_entry(const Page& page, std::uint32_t row);
  void check_entry_values(const EntryRow& row);
  void check_order(const EntryRow& row);
  void check_needs(const EntryRow& row);
  void check_block_name(const EntryRow& row);

  // These functions in verify_block.cpp check blocks (section 8).
  void check_block(const EntryRow& row);
  void check_unsupported_block(const EntryRow& row);
  void check_chunks(const BlockEntry& entry);
  void check_properties(const Metadata& metadata, std::uint64_t body_at, const std::string& object);
  bool is_in_original(const BlockEntry& block) const;

  // These functions in verify_file_digests.cpp check the digests of classic files that became
  // blocks (section 10.5).
  void prepare_file_digests(const EntryRow& row);
  Result<std::unique_ptr<OriginalDigests>> begin_file(const BlockEntry& entry) const;
  void check_file_digests(DigestedFile& file);

  // These functions in verify_tables.cpp check the statistics table and the tag table (section
  // 9.2).
  struct TableWalk;
  void check_table(PageUse use);
  bool check_table_page(const std::shared_ptr<const Page>& page, TableWalk* walk);
  void check_table_rows(const std::shared_ptr<const Page>& leaf, TableWalk* walk);

  // These functions in verify_statistics.cpp check the statistics of blocks (section 9.3).
  void check_statistics(const EntryRow& row);
  void find_stray_statistics();
  void count_again(const BlockEntry& entry);

  // These functions in verify_extent.cpp check values (section 10). check_extent() and
  // check_data_map() return the number of pieces that were found.
  std::uint64_t check_extent(const EntryRow& row);
  std::uint64_t check_data_map(const EntryRow& row);
  void add_to_stamp(std::uint64_t position, std::uint64_t sum);
  void check_stamp();
  // Returns false if the data map cannot be read.
  bool walk_map(const Place& root, std::uint64_t placed_at, MapWalk* walk);
  bool check_map_page(const Page& page, MapWalk* walk);
  void check_pieces(const Page& leaf, MapWalk* walk);
  void check_values(const ValueRange& range, std::uint64_t placed_at,
                    RegionKind kind = RegionKind::kValues);
  void check_external(ValueRange range, std::uint32_t number);
  void report_values();
  DamagedPiece describe_piece(const ValueRange& range);
  const ClassicHeader* definitions_of(const CheckState& block);

  // These functions in verify_growth.cpp check growth pages (section 10.4).
  void check_growth_pages();
  void take_growth_of(const EntryRow& row);
  void check_growth(const EntryRow& row, std::uint64_t first);
  void check_grown_length(std::uint64_t header_records, const ByteSource& body,
                          const Metadata& metadata);
  void check_growth_without_blocks();

  // These functions in verify_view.cpp check the HDF5 view (section 12).
  void check_hdf5_superblock();
  void check_view();
  bool check_view_header(std::span<const std::byte> header);
  std::optional<Superblock> shown_generation(std::uint64_t generation);
  void compare_view(const Superblock& shown, const ViewHeader& header, const ViewNumbers& numbers);

  // These functions in verify_dead_space.cpp check dead space (section 11).
  void check_dead_space();
  std::optional<Place> check_dead_rows(const Page& segment);
  void check_abandoned(const Page& segment, std::uint32_t row, bool first);

  // These functions in verify_space.cpp check that each byte of the file has only one use (section
  // 3).

  // Checks R-FL-5 for the structure whose place is stored at `placed_at`.
  bool lies_within(std::uint64_t position, std::uint64_t length, std::uint64_t placed_at,
                   const std::string& object);
  // Claims the bytes of the structure whose place is stored at `placed_at` (R-FL-3, R-FL-5).
  // Returns true if the structure can be read.
  bool claim(RegionKind kind, std::uint64_t position, std::uint64_t length, std::uint64_t placed_at,
             const std::string& object);
  // Adds the regions whose positions are the same in all files.
  void add_fixed_regions();
  void check_gaps();
  void check_zero(const char* rule, std::uint64_t position, std::span<const std::byte> bytes,
                  const std::string& object);

  // Claims the bytes of a page and reads them. Returns nullopt if an error was reported.
  std::optional<std::vector<std::byte>> read_page_bytes(PageUse use, std::uint64_t position,
                                                        std::uint64_t length,
                                                        std::uint64_t placed_at,
                                                        const std::string& object);
  std::optional<Page> decode_page(std::vector<std::byte> bytes, PageExpectation expect);
  PageExpectation expectation(PageUse use, std::uint64_t position, std::uint16_t level = 0) const;
  // Checks the structures that only later versions know and to which rows of the page refer
  // (section 6).
  void check_later_places(const Page& page);
  // Returns the pages of a chain, the oldest first. Returns nullopt if a page cannot be read.
  std::optional<std::vector<std::shared_ptr<const Page>>> check_chain(PageUse use,
                                                                      const Place& newest,
                                                                      std::uint64_t placed_at,
                                                                      const std::string& object,
                                                                      std::uint64_t most);

  void report(const char* rule, std::uint64_t offset, std::string object, std::string found,
              std::string expected);
  // Records that a part of the file could not be read or was too large to be checked.
  void missed(const Status& status);
  bool at_least(VerifyLevel level) const { return level_ >= level; }
  bool walks_maps() const { return at_least(VerifyLevel::kBlocks) || regions_ != nullptr; }
  // Returns whether a structure at this position is older than the generations that are checked.
  bool is_old(std::uint64_t position) const { return position < new_from_; }
  bool is_old(const Place& place) const {
    return new_from_ > 0 && (place.absent() || is_old(place.position));
  }
  bool is_unchanged(const BlockEntry& entry) const;
  bool checks_originals() const {
    return options_.originals || options_.level >= VerifyLevel::kData;
  }
  // Returns whether nmconvert --original writes a classic file from this block. If an original
  // became the block, the original is written instead.
  bool gives_classic_file(const BlockEntry& entry) const;

  // Counts findings and assigns them to the block that is being checked.
  class Counter final : public Findings {
   public:
    Counter(NmbVerifier& verifier, Findings& findings) : verifier_(verifier), findings_(findings) {}
    void report(Finding finding) override;

   private:
    NmbVerifier& verifier_;
    Findings& findings_;
  };

  MeteredSource file_;
  const VerifierOptions& options_;
  VerifyLevel level_;  // the level for the current structure
  Counter findings_;
  VerifySummary summary_;
  NotDecoded not_decoded_;  // counts chunks in blocks whose values were checked
  Head head_;
  const Superblock& superblock() const { return head_.superblock; }
  std::uint64_t field(std::size_t offset) const { return head_.position + offset; }

  // File length of each generation, the newest first. The list ends where the chain of trailers
  // cannot be followed.
  std::vector<std::uint64_t> file_lengths_;
  // With VerifierOptions::since: the end of that generation. Later generations only add bytes after
  // this position. Otherwise 0.
  std::uint64_t new_from_ = 0;
  SpaceMap space_;
  RegionList* const regions_;     // may be nullptr
  RegionOwner owner_;             // the owner of the regions that are claimed now
  std::uint32_t next_block_ = 0;  // position of the next block in the order of the index
  bool found_all_ = false;
  SpaceMap orders_;
  std::uint64_t stamp_ = 0;  // the stamp computed from the pieces checked so far
  bool view_sound_ = false;  // true if the HDF5 view has the recorded sum
  bool index_run_told_ = false;
  bool statistics_sound_ = false;
  bool metadata_known_ = false;  // true if the current block obeys the rules R-BK
  // Number of valid statistics rows of each block. The key is the block's order field.
  std::unordered_map<std::uint64_t, std::uint64_t> statistics_rows_;
  // For each block with a statistics row that fits no variable: the names of the block's variables.
  // The key is the block's order field.
  std::unordered_map<std::uint64_t, std::set<std::string, std::less<>>> variables_of_;
  // True until the verifier finds a structure that it cannot check. If all structures are known,
  // all other bytes must be zero.
  bool all_walked_ = true;
  bool index_whole_ = true;  // true if every page of the index could be read
  std::uint64_t used_compatible_ = 0, used_readonly_compatible_ = 0;
  std::uint64_t used_needs_ = 0;     // needs of the features found in the current block
  GrowthRows growth_;                // growth rows of the blocks that have not been checked yet
  bool growth_known_ = true;         // true if every growth page could be read
  std::vector<GrowthRow> grown_;     // growth rows of the current block
  BlockEntry whole_;                 // the entry of the current block, including growth
  std::uint64_t grown_records_ = 0;  // number of records added by growth, in all blocks
  // The last block name in the leaf pages checked so far.
  std::optional<std::string> last_name_;
  std::unique_ptr<ReaderCore> core_;
  std::shared_ptr<const FileTable> files_;             // file table, or nullptr if it is unknown
  std::unordered_set<std::uint64_t> original_orders_;  // column 31 of all originals
  std::unordered_set<std::uint64_t> live_orders_;      // those that a block of the file has
  // Maps the name of each block of live_orders_ to its order.
  std::map<std::string, std::uint64_t, std::less<>> blocks_of_originals_;
  std::unordered_set<std::uint32_t> used_files_;  // file numbers of pieces of blocks
  std::vector<std::pair<std::uint32_t, bool>> checked_originals_;  // row, whether it is whole
  // External files that cannot be checked: the number of each file, and the reason.
  std::map<std::uint32_t, Status> external_;
  ValueChecker values_;
  // Position and definitions of the block whose damaged pieces were described last. The header is
  // nullopt if it cannot be read.
  std::optional<std::pair<std::uint64_t, std::optional<ClassicHeader>>> described_;
  // Number of variables that were compared with damaged pieces.
  std::uint64_t compared_variables_ = 0;
  std::shared_ptr<CheckState> block_;                 // the current block
  std::vector<std::shared_ptr<CheckState>> waiting_;  // blocks whose values have not been checked
                                                      // yet
};

}  // namespace nmb
