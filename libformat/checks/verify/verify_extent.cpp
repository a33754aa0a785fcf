// Verifies extents, data maps and pieces of values (spec/format.md, section 10).
#include "extent/data_map.h"
#include "extent/needs.h"
#include "extent/piece_codec.h"
#include "model/elements_in.h"
#include "model/name_rules.h"
#include "verify/nmb_verifier.h"
#include "verify/status_finding.h"
#include "wire/checked.h"
#include "wire/hash.h"
#include "wire/joined_text.h"

namespace nmb {

// No piece may end after this offset in the extent. The callers check that the last piece ends
// where the extent ends.
static constexpr std::uint64_t kMaxLength = ~std::uint64_t{0} >> 1;

// The digests of an original are computed in parts, each after the sums of at least this many bytes
// were checked. These bytes are then still in memory (verify/recent_bytes.h).
static constexpr std::uint64_t kDigestedAtOnce = 32 << 20;

// Returns whether a range of the extent has values of a variable.
static bool has_values_in(const ClassicHeader& header, std::uint64_t records, VarId id,
                          ByteRange range) {
  const auto& extension = header.metadata.extension();
  const Storage* const storage = extension ? extension->storage_of(id) : nullptr;
  if (storage) {
    const std::uint64_t begin = header.metadata.begin(id) - header.layout.header_length;
    if (range.begin < begin + storage->region_length && begin < range.end) return true;
    if (storage->kind == StorageKind::kChunked) return false;
  }
  return elements_in(header.metadata, header.layout, records, id, range).has_value();
}

static bool lies_in(const FileTable& files, std::uint32_t number, std::uint64_t position,
                    std::uint64_t length) {
  const std::uint64_t size = files.size(number - 1);
  return position <= size && length <= size - position;
}

std::uint64_t NmbVerifier::check_extent(const EntryRow& row) {
  const BlockEntry& e = row.entry;
  const std::string object = "block \"" + e.name + "\"";
  const bool stored = e.extent_length != 0 && !e.hole;
  if (e.extent_length == 0 && e.extent_position != 0)
    report("R-EX-7", row.at(kExtentPosition), object,
           joined_text("extent position ", e.extent_position, " of an empty extent"), "0");
  if (e.extent_sum != 0 && (e.has_map() || !stored))
    report("R-EX-16", row.at(kExtentSum), object, "an extent sum other than 0",
           "0 for a block with a data map, a hole or an empty extent");
  if (e.has_map()) return walks_maps() ? check_data_map(row) : 0;
  if (!stored) return 0;
  add_to_stamp(e.extent_position, e.extent_sum);
  ValueRange range{e.extent_position, e.extent_length, e.extent_sum};
  range.rule = "R-EX-6";
  range.block = block_;
  check_values(range, row.at(kExtentPosition));
  return 1;
}

// Adds the sum of a piece to the computed stamp if the piece was written by the newest generation.
void NmbVerifier::add_to_stamp(std::uint64_t position, std::uint64_t sum) {
  const Superblock& s = superblock();
  const std::uint64_t from =
      s.generation > 1 ? s.previous_trailer.position + s.previous_trailer.length : kBodyStart;
  if (position >= from) stamp_ += sum;
}

// Checks the superblock's stamp. The check is possible only if all pieces were found.
void NmbVerifier::check_stamp() {
  if (!all_walked_ || !at_least(VerifyLevel::kBlocks)) return;
  if (stamp_ != superblock().stamp)
    report("R-SB-14", field(in_superblock::kStamp), "superblock",
           joined_text("stamp ", superblock().stamp),
           joined_text(stamp_, ", computed from the pieces of this generation"));
}

// Claims a range of values and schedules the check of its sum.
void NmbVerifier::check_values(const ValueRange& range, std::uint64_t placed_at, RegionKind kind) {
  const std::string object =
      range.block ? "values of block \"" + range.block->name + "\"" : range.object;
  std::uint64_t padded;
  if (!checked_round_up(range.length, 8, &padded)) padded = range.length;
  if (!claim(kind, range.position, padded, placed_at, object)) return;
  if (range.is_digested) file_.keep(range.position, range.position + padded);
  if (!at_least(VerifyLevel::kData) || is_old(range.position)) return;
  if (values_.add(range)) report_values();
}

// Schedules the check of a piece in another file. Opens this file when the first piece in it is
// checked.
void NmbVerifier::check_external(ValueRange range, std::uint32_t number) {
  used_files_.insert(number);
  if (!at_least(VerifyLevel::kData)) return;
  range.in_original = files_->is_original(number - 1);
  summary_.reads_other_files |= !range.in_original;
  Status& failure = external_[number];
  const bool is_reported = !failure.ok();
  const Result<std::shared_ptr<const ByteSource>> file =
      is_reported ? failure : core_->external().open(number);
  if (file.ok()) {
    range.external = *file;
    if (values_.add(range)) report_values();
    return;
  }
  if (block_) block_->damaged = true;
  if (is_reported) return;
  failure = file.status();
  const Status& status = failure;
  if (status.code() != Code::kDamaged && status.code() != Code::kUnsupported) return missed(status);
  Finding finding = finding_of(status);
  finding.offset = status.rule() == "R-FT-5" ? files_->value_offset(number - 1, kStoredLength)
                                             : files_->path_offset(number - 1);
  finding.object = "external file " + in_quotes(status.file());
  if (status.code() == Code::kUnsupported) finding.severity = Severity::kUnsupported;
  findings_.report(std::move(finding));
}

// Checks the scheduled ranges, reports wrong sums, and then counts the blocks that waited for these
// results.
void NmbVerifier::report_values() {
  const std::shared_ptr<CheckState> current = block_;
  values_.run([&](const ValueRange& range, const ValueOutcome& outcome) {
    block_ = range.block;
    const bool is_dead = !range.block && !range.is_digested;
    const std::string object = is_dead ? joined_text(range.object, " (bytes ", range.position,
                                                     " to ", range.position + range.length - 1, ")")
                               : !range.block   ? range.object
                               : range.external ? "values of block \"" + range.block->name +
                                                      "\" in " + in_quotes(range.external->name())
                                                : "values of block \"" + range.block->name + "\"";
    if (!outcome.status.ok() && range.in_original && outcome.status.code() == Code::kDamaged) {
      block_->damaged = true;  // reported as damage of the original
      return;
    }
    if (!outcome.status.ok()) return missed(outcome.status);
    if (outcome.wrong_sum) {
      Finding finding{range.rule, range.sum_at.value_or(range.position), object,
                      sum_text(*outcome.wrong_sum), sum_text(range.sum)};
      if (!is_dead) finding.piece = describe_piece(range);
      findings_.report(std::move(finding));
    }
    if (!outcome.decodes) {
      Finding finding{range.codec_at ? range.rule : "R-EX-15",
                      range.codec_at.value_or(range.position), object,
                      joined_text("bytes that cannot be decoded to ", range.raw_length, " bytes"),
                      "bytes of this decoded length"};
      finding.piece = describe_piece(range);
      findings_.report(std::move(finding));
    }
    if (outcome.dirty_padding)
      report("R-FL-4", *outcome.dirty_padding, object, "padding other than zero", "0");
  });
  for (const auto& state : waiting_) {
    if (state == current) continue;
    block_ = state;
    if (state->chunked && !state->damaged) check_chunks(*state->chunked);
    const bool sound = !state->damaged;
    if (state->counted && sound) count_again(*state->counted);
    if (state->file && sound) check_file_digests(*state->file);
    if (state->gives_file) {
      ++summary_.originals;
      summary_.whole_originals += !state->damaged && !state->unsupported;
    }
    if (state->damaged)
      ++summary_.damaged_blocks;
    else if (!state->unsupported)
      ++summary_.sound_blocks;
    if (state->damaged && options_.on_damaged_block) options_.on_damaged_block(state->name);
  }
  block_ = current;
  waiting_.clear();
  if (current) waiting_.push_back(current);
}

// Returns the piece of a range, and the variables whose values it has.
DamagedPiece NmbVerifier::describe_piece(const ValueRange& range) {
  constexpr std::size_t kMostNamed = 100;
  constexpr std::uint64_t kMostCompared = std::uint64_t{1} << 30;
  DamagedPiece piece;
  piece.number = range.piece;
  piece.begin = range.position;
  piece.end = range.position + range.length;
  if (!range.block || compared_variables_ > kMostCompared) return piece;
  const ClassicHeader* const header = definitions_of(*range.block);
  if (!header) return piece;
  const Metadata& metadata = header->metadata;
  const std::uint64_t length = range.codec != PieceCodec::kNone ? range.raw_length : range.length;
  const ByteRange values{range.logical, range.logical + length};
  compared_variables_ += metadata.variable_count();
  for (VarId id = 0; id < metadata.variable_count(); ++id) {
    if (!has_values_in(*header, range.block->entry.records, id, values)) continue;
    if (piece.variables.size() < kMostNamed)
      piece.variables.emplace_back(metadata.variable(id).name);
    else
      ++piece.more_variables;
  }
  return piece;
}

// Returns the definitions of a block, or nullptr if they cannot be read. The result is valid until
// the next call.
const ClassicHeader* NmbVerifier::definitions_of(const CheckState& block) {
  const BlockEntry& entry = block.entry;
  if (!described_ || described_->first != entry.position) {
    described_.emplace(entry.position, std::nullopt);
    const auto read = [&]() -> Result<ClassicHeader> {
      NMB_ASSIGN(const StoredBlock stored, core_->load(entry, false));
      return decode_body(entry, stored.header.records, stored.body, file_);
    };
    Result<ClassicHeader> header = read();
    if (header.ok()) described_->second = std::move(*header);
  }
  return described_->second ? &*described_->second : nullptr;
}

std::uint64_t NmbVerifier::check_data_map(const EntryRow& row) {
  const BlockEntry& e = row.entry;
  if (e.map.length == 0) {
    all_walked_ = false;
    return 0;  // R-IX-13 is reported
  }
  MapWalk walk;
  walk.object = "data map of block \"" + e.name + "\"";
  walk.owner = e.position;
  if (block_->file) {
    // If the file cannot be read, the reason is reported already.
    Result<std::unique_ptr<OriginalDigests>> begun = begin_file(e);
    if (begun.ok()) {
      block_->file->digests = std::move(*begun);
      walk.digests = block_->file->digests.get();
    }
  }
  if (!walk_map(e.map, row.at(kMapPosition), &walk)) return walk.pieces;
  if (walk.next != e.extent_length)
    report("R-EX-9", row.at(kExtentLength), walk.object,
           joined_text("pieces that end at ", walk.next),
           joined_text(e.extent_length, ", the extent's length"));
  const std::uint64_t run = walk.one_run ? walk.first_position : 0;
  if (e.extent_position != run)
    report("R-EX-7", row.at(kExtentPosition), walk.object,
           joined_text("extent position ", e.extent_position), std::to_string(run));
  return walk.pieces;
}

bool NmbVerifier::walk_map(const Place& place, std::uint64_t placed_at, MapWalk* walk) {
  auto bytes =
      read_page_bytes(PageUse::kDataMap, place.position, place.length, placed_at, walk->object);
  if (!bytes) return false;
  PageExpectation expect = expectation(PageUse::kDataMap, place.position);
  expect.any_level = true;
  expect.sum = place.sum;
  expect.owner = walk->owner;
  const std::optional<Page> root = decode_page(std::move(*bytes), expect);
  return root && check_map_page(*root, walk);
}

// Checks a page of a data map and the pages below it. Returns false if a page cannot be read,
// because the end of the last piece may then be unknown. Recurses at most kMaxMapLevel deep.
bool NmbVerifier::check_map_page(const Page& page, MapWalk* walk) {
  if (page.level() == 0) {
    if (!walk->pages_only) check_pieces(page, walk);
    return true;
  }
  bool whole = true;
  for (std::uint32_t i = 0; i < page.rows(); ++i) {
    const std::uint64_t logical = page.value(i, kLogicalOffset);
    if (whole && !walk->pages_only && logical != walk->next)
      report("R-EX-1", page.value_offset(i, kLogicalOffset), walk->object,
             joined_text("logical offset ", logical), std::to_string(walk->next));
    const std::uint64_t position = page.value(i, kPosition);
    auto bytes = read_page_bytes(PageUse::kDataMap, position, page.value(i, kStoredLength),
                                 page.value_offset(i, kPosition), walk->object);
    if (!bytes) {
      whole = false;
      continue;
    }
    PageExpectation expect = expectation(PageUse::kDataMap, position);
    expect.level = static_cast<std::uint16_t>(page.level() - 1);
    expect.sum = page.value(i, kSum);
    expect.owner = walk->owner;
    const std::optional<Page> child = decode_page(std::move(*bytes), expect);
    if (child && !whole) walk->next = logical;  // continue here after an unreadable page
    if (!child || !check_map_page(*child, walk)) whole = false;
  }
  return whole;
}

void NmbVerifier::check_pieces(const Page& leaf, MapWalk* walk) {
  if (walk->is_original) check_original_leaf(leaf, findings_);
  check_data_map_leaf(leaf, &walk->next, kMaxLength, superblock().piece_size,
                      walk->is_original ? nullptr : files_.get(), findings_);
  for (std::uint32_t i = 0; i < leaf.rows(); ++i) {
    const Piece piece = piece_at(leaf, i);
    const std::uint64_t codec = leaf.value(i, kCodec), stored = leaf.value(i, kStoredLength);
    const bool here = leaf.value(i, kFileNumber) == 0;
    const std::uint64_t file = leaf.value(i, kFileNumber);
    if (!piece.hole) {
      Piece known = piece;
      if (!files_) known.file = 0;  // without the file table, the file number cannot be checked
      used_needs_ |=
          needs_of_piece(known, files_ && file != 0 && file <= files_->rows() &&
                                    files_->is_original(static_cast<std::uint32_t>(file) - 1));
    }
    if (piece.hole || codec != 0 || !here || (walk->any && piece.position != walk->run_end))
      walk->one_run = false;
    if (!walk->any) walk->first_position = piece.position;
    walk->any = true;
    // If the end of the piece does not fit in 64 bits, no other piece can begin there.
    if (!checked_add(piece.position, piece.length, &walk->run_end)) walk->run_end = 0;
    const std::uint64_t number = walk->pieces++;
    if (piece.hole) continue;
    ValueRange range{piece.position, stored, piece.sum};
    range.logical = piece.logical;
    range.piece = number;
    range.rule = "R-EX-5";
    range.block = block_;
    range.is_digested = walk->is_original || walk->digests;
    if (walk->is_original) range.object = "values of an original";
    if (codec != 0 && is_piece_codec(codec) && is_piece_length(stored, piece.length) &&
        piece.length <= superblock().piece_size) {
      range.codec = piece.codec;
      range.raw_length = piece.length;
    }
    if (here) add_to_stamp(piece.position, piece.sum);
    if (here)
      check_values(range, leaf.value_offset(i, kPosition),
                   walk->is_original ? RegionKind::kOriginal : RegionKind::kValues);
    else if (!walk->is_original && files_ && piece.file <= files_->rows() &&
             files_->is_known(piece.file - 1) && stored <= piece.length &&
             lies_in(*files_, piece.file, piece.position, stored)) {
      if (walk->taken[file].claim(piece.position, piece.position + stored))
        report("R-EX-17", leaf.value_offset(i, kPosition), walk->object,
               joined_text("a piece with bytes ", piece.position, " to ",
                           piece.position + stored - 1, " of file ", file),
               "bytes that no earlier piece of the extent has");
      else
        check_external(std::move(range), piece.file);
    } else if (block_)
      block_->damaged = true;  // already reported: a violation of R-EX-8, R-EX-12 or R-FT-10, or an
                               // error in the file table
    if (walk->digests && (walk->not_digested += stored) >= kDigestedAtOnce) {
      report_values();
      walk->digests->read_to(piece.end());
      walk->not_digested = 0;
    }
  }
}

}  // namespace nmb
