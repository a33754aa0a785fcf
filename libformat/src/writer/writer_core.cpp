// WriterCore: the beginning and end of a writer (see writer/writer_core.h).
#include "writer/writer_core.h"

#include <exception>
#include <string>

#include "wire/checked.h"

namespace nmb {

WriterCore::WriterCore(std::unique_ptr<OutputFile> output, const WriterOptions& with,
                       Communicator* several, const Aggregation& how)
    : options(with),
      ranks(several ? *several : alone),
      traffic_before(ranks.communicator().traffic()),
      agreed_failures(ranks.communicator().agreed_failures()),
      out_of_memory(out_of_memory_on(ranks.own()).in_file(output->name())),
      file(std::make_unique<CountedOutput>(std::move(output), counts)),
      aggregation(how),
      buffer(*file, ranks.is_alone() ? WriteBuffer::kCapacity : WriteBuffer::kOfSeveral),
      stripes(ranks.communicator(), *file, buffer, aggregation),
      value_stripes(ranks.communicator(), *file, buffer, aggregation.of_values()) {}

WriterCore::~WriterCore() {
  buffer.drop();
  if (!file) return;
  // Bytes that this writer did not commit are cut off; if that fails, they stay as an abandoned
  // range.
  if (!ranks.is_first() || committed.is_none() || next.slot_begun ||
      next.cursor == round_up(committed.kept_length, 8))
    return;
  (void)file->truncate(committed.kept_length).ok();
}

Status WriterCore::keep(Status status) {
  if (status.ok()) return status;
  status = status.in_file(file->name());
  if (status.code() == Code::kIo || status.code() == Code::kNoSpace ||
      status.code() == Code::kDamaged)
    failure = status;
  return status;
}

void WriterCore::leave() {
  Communicator& all = ranks.communicator();
  // All ranks know this failure already, so none of them waits for this one.
  if (ranks.is_alone() || !file || failed_together || all.agreed_failures() != agreed_failures)
    return;
  // The code that catches the exception reports it.
  if (std::uncaught_exceptions() > 0) return;
  if (!failure.ok()) return all.fail(failure);
  if (abandoned && all.agree({}, "abandon()").ok()) return;
  all.fail(Status(Code::kUsage, file->name(), kNoOffset, "",
                  "the writer of rank " + std::to_string(ranks.own()) +
                      " was destroyed; call close() or abandon() on all ranks"));
}

void WriterCore::shut() {
  committed.reader.reset();
  committed.source.reset();
  file.reset();
  failure = Status(Code::kUsage, "the writer is closed");
}

}  // namespace nmb
