#include "state/writer_core.h"

#include <exception>
#include <new>

#include "files/temporary_names.h"
#include "wire/checked.h"
#include "wire/joined_text.h"

namespace nmb {

namespace {
constexpr std::string_view kEnd = "the end of a writer";
}

WriterCore::WriterCore(std::unique_ptr<OutputFile> output, const FileWriterOptions& with,
                       Communicator* several, const Aggregation& how)
    : options(with),
      ranks(several ? *several : alone),
      traffic_before(ranks.communicator().traffic()),
      number(ranks.communicator().number_file()),
      agreed_failures(ranks.communicator().agreed_failures()),
      out_of_memory(out_of_memory_on(ranks.communicator()).in_file(output->name())),
      file(std::make_unique<CountedOutput>(std::move(output), counts)),
      aggregation(how),
      buffer(*file, ranks.is_alone() ? WriteBuffer::kCapacity : WriteBuffer::kOfSeveral),
      stripes(ranks.communicator(), *file, buffer, aggregation),
      value_stripes(ranks.communicator(), *file, buffer, aggregation.of_values()),
      stage(with.dry_run || file->name().empty() ? std::string() : folder_of(file->name())) {}

WriterCore::~WriterCore() {
  buffer.drop();
  if (!file || !ranks.is_first() || committed.is_none()) return;
  // Cuts off all bytes that this writer has not committed. If the cut fails, the bytes stay as an
  // abandoned range.
  if (!next.slot_begun && next.cursor != round_up(committed.kept_length, 8))
    (void)file->truncate(committed.kept_length).ok();
  // Other ranks may still write values to their places in the file. The file stays locked until
  // they know that this rank has left; otherwise another writer could use these places.
  if (!others_go_on) return;
  try {
    ranks.communicator().keep(std::move(file));
  } catch (const std::bad_alloc&) {
    (void)file.release();
  }
}

Status WriterCore::keep(Status status) {
  if (status.ok()) return status;
  status = status.in_file(file->name());
  if (status.code() == Code::kIo || status.code() == Code::kNoSpace ||
      status.code() == Code::kDamaged)
    failure = status;
  return status;
}

Status WriterCore::agree_unchanged(const Status& status, std::string_view operation) {
  Communicator& all = ranks.communicator();
  const std::uint64_t failures = all.agreed_failures(), differing = all.differing_calls();
  const Status agreed = ranks.agree(status, operation, number);
  // If the network has failed, the ranks have not agreed on anything.
  refused = all.agreed_failures() != failures && all.differing_calls() == differing &&
            agreed.code() != Code::kIo && agreed.code() != Code::kNoSpace &&
            agreed.code() != Code::kDamaged;
  return agreed;
}

void WriterCore::leave() {
  Communicator& all = ranks.communicator();
  // After a collective failure, all ranks know of the failure, and no rank waits for this rank.
  if (ranks.is_alone() || !file || (failed_together && !calls_differed)) return;
  // All ranks reach this point if all of them abandon the writer, or if they have already agreed
  // that the writer failed for another reason. Here they agree that the writer has ended.
  const bool ends_together = abandoned || all.agreed_failures() != agreed_failures;
  const bool by_exception = std::uncaught_exceptions() > 0;
  if (!by_exception && ends_together && all.agree({}, kEnd, number).ok()) return;
  others_go_on = !(by_exception && ends_together);
  if (!others_go_on) return;
  const Status why =
      !failure.ok()
          ? failure
          : Status(Code::kUsage, file->name(), kNoOffset, "",
                   joined_text("the writer of rank ", ranks.own(),
                               " was destroyed without close(); all ranks must call close()"));
  // The code that catches an exception may report a better reason.
  if (by_exception)
    all.give_up_later(why);
  else
    all.give_up(why);
}

void WriterCore::shut() {
  committed.reader.reset();
  committed.source.reset();
  file.reset();
  failure = Status(Code::kUsage, "the writer is closed");
}

}  // namespace nmb
