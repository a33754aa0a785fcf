#include "nminspect/diff_command.h"

#include <fmt/format.h>

#include <optional>

#include "common/options/block_name.h"
#include "common/printing/difference_text.h"
#include "common/printing/json_document.h"
#include "common/printing/table.h"
#include "common/printing/units.h"
#include "model/text.h"
#include "nminspect/object_pattern.h"

namespace nmb::tools {

namespace {

// Writes differences as they are found.
class DiffListing {
 public:
  virtual ~DiffListing() = default;
  virtual Status begin() { return {}; }
  virtual Status definition(const DefinitionDifference& difference) = 0;
  virtual Status variable(const ComparedVariable& variable) = 0;
  virtual Status end(const Result<bool>& is_same) = 0;
};

class DiffLines final : public DiffListing {
 public:
  DiffLines(Output& out, std::string first, std::string second)
      : out_(out), first_(std::move(first)), second_(std::move(second)) {}
  Status definition(const DefinitionDifference& difference) override {
    return out_.write(difference_line(difference, first_, second_) + "\n");
  }
  Status variable(const ComparedVariable& variable) override {
    for (const std::string& line : difference_lines(variable)) NMB_TRY(out_.write(line + "\n"));
    return {};
  }
  Status end(const Result<bool>&) override { return {}; }

 private:
  Output& out_;
  const std::string first_, second_;
};

// One row for each variable that was compared, and the number of other differences.
class DiffStat final : public DiffListing {
 public:
  explicit DiffStat(Output& out)
      : out_(out),
        table_(out, {{"variable"},
                     {"values", Table::Align::kRight},
                     {"different", Table::Align::kRight},
                     {"fill", Table::Align::kRight},
                     {"NaN", Table::Align::kRight},
                     {"largest difference", Table::Align::kRight}}) {}
  Status definition(const DefinitionDifference&) override {
    ++definitions_;
    return {};
  }
  Status variable(const ComparedVariable& variable) override {
    ++variables_;
    different_ += variable.different > 0 ? 1 : 0;
    return table_.row({full_name(variable.block, variable.variable),
                       std::to_string(variable.values), std::to_string(variable.different),
                       std::to_string(variable.missing), std::to_string(variable.nans),
                       variable.largest ? largest_difference_text(variable) : "-"});
  }
  Status end(const Result<bool>&) override {
    NMB_TRY(table_.finish());
    return out_.write(fmt::format("{} compared, {} with different values; {} of definitions\n",
                                  counted(variables_, "variable"), different_,
                                  counted(definitions_, "difference")));
  }

 private:
  Output& out_;
  Table table_;
  std::uint64_t variables_ = 0, different_ = 0, definitions_ = 0;
};

class DiffJson final : public DiffListing {
 public:
  DiffJson(Output& out, std::string first, std::string second, bool all)
      : out_(out), first_(std::move(first)), second_(std::move(second)), all_(all) {}
  Status begin() override {
    Json json = json_document("diff");
    json["first"] = json_text(first_);
    json["second"] = json_text(second_);
    std::string head = json.dump(-1, ' ', true);
    head.back() = ',';
    return out_.write(head + "\"differences\":[");
  }
  Status definition(const DefinitionDifference& difference) override {
    return add(difference_json(difference));
  }
  Status variable(const ComparedVariable& variable) override {
    return variable.different == 0 && !all_ ? Status() : add(difference_json(variable));
  }
  Status end(const Result<bool>& is_same) override {
    const std::string result =
        is_same.ok() ? fmt::format("\"same\":{}", *is_same)
                     : "\"error\":" + json_message(is_same.status().text()).dump(-1, ' ', true);
    return out_.write("\n]," + result + "}\n");
  }

 private:
  Status add(const Json& json) {
    return out_.write((count_++ == 0 ? "\n" : ",\n") + json.dump(-1, ' ', true));
  }

  Output& out_;
  const std::string first_, second_;
  const bool all_;
  std::uint64_t count_ = 0;
};

}  // namespace

DiffCommand::DiffCommand(Tool& tool)
    : InspectCommand(
          tool, "diff",
          {"Shows the differences between the contents of two files.",
           "The files may be of different kinds. A difference is what changes the digest of "
           "`nminspect digest`: names, types, dimensions, attributes and values count; chunks, "
           "compression, byte order and the order of variables do not. Blocks of an NMB file are "
           "compared with the groups of the same path.\n"
           "Values are compared if the variable has the same type and shape in both files. Two "
           "NaNs are the same, 0 and -0 differ. With --tolerance A,R, two numbers x and y also "
           "count as the same if both are finite and |x - y| <= A + R * |y|; y is the number in "
           "OTHER, as in numpy.isclose. The tolerance applies to integers and floating-point "
           "numbers of variables, not to attributes, and not to parts of compounds. A fill value "
           "is _FillValue or, for types of two bytes or more, netCDF's default. A fill value and "
           "another number differ, whatever the tolerance. The fill values of both files are the "
           "same, even if they are different numbers.\n"
           "For each variable with different values, the command shows their number, the largest "
           "difference, and the first of them. The property or value in FILE comes first. --stat "
           "shows a row for each variable, even if nothing differs.\n"
           "Exit codes: 0 the same, 1 different, 2 could not run (also if a file is damaged).",
           "  nminspect diff old.nc new.nmb\n"
           "  nminspect diff --tolerance 1e-6,1e-9 run1.h5 run2.h5\n"
           "  nminspect diff --stat a.nmb b.nmb"}) {
  command_.add_option("OTHER", other_, "the file to compare with")->required();
  command_
      .add_option("--tolerance", tolerance_,
                  "absolute and relative tolerance for values of variables (default: 0,0)")
      ->type_name("A[,R]");
  command_.add_flag("--stat", stat_, "show one row for each variable");
  command_
      .add_option("--first", options_.most_first,
                  "how many different values of a variable to show (default: 3)")
      ->type_name("N");
  tool.offer_threads(command_);
  tool.offer_memory(command_);
  tool.offer_json(command_);
  offer_progress(Reads::kAll);
}

Status DiffCommand::execute() {
  Status status;
  if (!tolerance_.empty()) {
    const Result<Tolerance> tolerance = Tolerance::try_parse(tolerance_);
    if (tolerance.ok()) options_.tolerance = *tolerance;
    status = tolerance.status().of_object("--tolerance");
  }
  if (status.ok()) status = InspectCommand::execute();
  // Exit code 1 means that the files differ.
  if (!status.ok()) tool_.diagnostics().raise(Exit::kCannotRun);
  return status;
}

Status DiffCommand::run(const InspectedFile& file) {
  options_.content.threads = tool_.options().threads;
  options_.content.set_memory(tool_.options().memory);
  NMB_ASSIGN(const std::shared_ptr<const InputFile> input, InputFile::open(other_, meter()));
  Result<InspectedFile> opened = InspectedFile::open(input, {.external = tool_.options().external});
  if (!opened.ok()) return opened.status().in_file(other_);
  const InspectedFile& other = *opened;
  if (const FileReader* reader = other.reader())
    for (const Finding& warning : reader->warnings()) tool_.diagnostics().warning(other_, warning);

  const std::string& first = file.file().name();
  std::unique_ptr<DiffListing> listing;
  if (tool_.options().json)
    listing = std::make_unique<DiffJson>(tool_.out(), first, other_, stat_);
  else if (stat_)
    listing = std::make_unique<DiffStat>(tool_.out());
  else
    listing = std::make_unique<DiffLines>(tool_.out(), first, other_);
  NMB_TRY(listing->begin());
  const ComparisonVisitor visitor{
      [&](const DefinitionDifference& difference) { return listing->definition(difference); },
      [&](const ComparedVariable& variable) { return listing->variable(variable); }};
  const Result<bool> is_same = compare_files(file.content(), other.content(), options_, visitor);
  if (is_same.ok() && !*is_same) tool_.diagnostics().raise(Exit::kFindings);
  const Status ended = listing->end(is_same);
  return is_same.ok() ? ended : is_same.status();
}

}  // namespace nmb::tools
