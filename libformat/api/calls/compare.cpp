#include "compare/compare.h"

#include "handles/handle_parts.h"
#include "handles/reader_state.h"

namespace nmb {

namespace {

ContentFile content_of(const Reader& reader) {
  return {ReaderState::of(reader)->file.blocks(), reader.file_length()};
}

}  // namespace

Result<FileComparison> try_compare(const Reader& first, const Reader& second,
                                   const CompareOptions& options) {
  for (const Reader* const reader : {&first, &second})
    NMB_TRY(check_handle(ReaderState::of(*reader)));
  const auto [absolute, relative] = options.tolerance;
  if (!(absolute >= 0 && relative >= 0))  // refuses NaN too
    return Status(Code::kUsage, "found a Tolerance that is negative or NaN, expected 0 or more");
  ComparisonOptions all;
  all.content.threads = options.threads;
  all.content.cancel = options.cancel;
  all.content.chunk_cache = options.chunk_cache;
  all.tolerance = options.tolerance;
  all.most_first = options.most_first;
  FileComparison out;
  NMB_ASSIGN(out.same, compare_files(content_of(first), content_of(second), all,
                                     {[&](const DefinitionDifference& difference) {
                                        out.definitions.push_back(difference);
                                        return Status();
                                      },
                                      [&](const ComparedVariable& variable) {
                                        if (variable.different > 0)
                                          out.variables.push_back(variable);
                                        return Status();
                                      }}));
  return out;
}

Result<ContentDigest> try_digest(const Reader& file, unsigned threads,
                                 const std::atomic<bool>* cancel) {
  NMB_TRY(check_handle(ReaderState::of(file)));
  ContentDigest out;
  ContentOptions all;
  all.threads = threads;
  all.cancel = cancel;
  NMB_ASSIGN(const Digest whole, digest_file(content_of(file), all, [&](const BlockDigest& block) {
               if (cancel && *cancel) return Status(Code::kIo, "interrupted");
               out.blocks.emplace_back(block.block, digest_text(block.digest));
               return Status();
             }));
  out.file = digest_text(whole);
  return out;
}

}  // namespace nmb
