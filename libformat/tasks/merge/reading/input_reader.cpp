#include "merge/reading/input_reader.h"

#include <memory>
#include <utility>

#include "merge/reading/nmb_input.h"
#include "model/classic.h"
#include "reader/file_reader.h"
#include "sources/value_source.h"

namespace nmb {

Status InputReader::read(std::size_t index, Source file, const VisitBlock& visit) {
  extras_ = {};
  NMB_ASSIGN(const FileKind kind, kind_of(*file));
  if (context_.options.merge.only_block && kind != FileKind::kNmb)
    return Status(Code::kUnsupported, file->name(), kNoOffset, "",
                  "a single block can only be taken from an NMB file; this is a " +
                      std::string(kind_name(kind)) + " file");
  if (kind == FileKind::kNmb) {
    NMB_ASSIGN(extras_, NmbInput(context_, index, std::move(file)).read(visit));
    return {};
  }
  if (kind == FileKind::kHdf5) {
    Hdf5Input input(context_, starter_, index, std::move(file));
    NMB_TRY(input.read(visit));
    extras_.losses = input.take_losses();
    return {};
  }
  if (!is_classic(kind)) return refused_kind(*file, kind);
  return read_classic(index, file, visit);
}

Status InputReader::choose(std::size_t index, Source file) {
  const std::size_t warnings = context_.warnings.size();
  NMB_ASSIGN(const FileKind kind, kind_of(*file));
  if (kind == FileKind::kNmb)
    NMB_TRY(NmbInput(context_, index, std::move(file)).choose());
  else if (kind == FileKind::kHdf5)
    NMB_TRY(Hdf5Input(context_, starter_, index, std::move(file)).choose());
  else if (is_classic(kind))
    NMB_TRY(context_.options.chooser->choose_classic(file, &context_.warnings).status());
  // read() reports the warnings again.
  context_.warnings.resize(warnings);
  return {};
}

Status InputReader::read_classic(std::size_t index, const Source& file, const VisitBlock& visit) {
  if (context_.options.chooser) {
    NMB_ASSIGN(const bool is_chosen,
               context_.options.chooser->choose_classic(file, &context_.warnings));
    if (!is_chosen) return {};
  }
  NMB_ASSIGN(ClassicHeader header,
             decode_classic_header(*file, {}, std::move(context_.spare_metadata)));
  for (const HeaderRemark& remark : header.remarks) {
    if (remark.rule != "R-CH-6") continue;
    context_.warnings.push_back(file->name() + ": " + remark.text() + "; kept as it is");
    break;
  }
  const std::uint64_t header_length = header.layout.header_length;
  const auto values = run_of(file, header_length, file->size() - header_length);
  Dataset dataset = dataset_of(std::move(header), values);
  InputBlock block(dataset);
  count_objects(dataset, &block.packed);
  block.packed.extent = block.values = values;
  // The header is read now, because the file may be closed later.
  if (context_.holds_header(header_length)) {
    std::vector<std::byte> body(header_length);
    NMB_TRY(file->read_at(0, body));
    block.packed.body = owned_bytes(std::move(body), file->name());
  } else {
    block.packed.body = run_of(file, 0, header_length);
  }
  block.packed.extent_length = values->size();
  block.packed.new_digests = context_.options.digests;
  block.packed.origin = context_.origin(index, header_length);
  if (auto& links = context_.options.links) {
    NMB_ASSIGN(block.links, links->behind(file, header_length, values, block.packed.origin));
  }
  block.open = [file] { return open_classic(file); };
  context_.counts.has_classic = true;
  const Result<bool> visited = visit(block);
  context_.spare_metadata = std::move(dataset.metadata);
  return visited.status();
}

}  // namespace nmb
