// nminspect diff (see diff_command.h).
#include "nminspect/diff_command.h"

#include <fmt/format.h>

#include <cmath>
#include <optional>

#include "common/json_document.h"
#include "common/table.h"
#include "nmb/text.h"
#include "nminspect/object_pattern.h"

namespace nmb::tools {

namespace {

std::string index_text(const std::vector<std::uint64_t>& index) {
  return fmt::format("[{}]", fmt::join(index, ","));
}

std::string plural(std::uint64_t count, const char* one) {
  return fmt::format("{} {}{}", count, one, count == 1 ? "" : "s");
}

// Returns the shortest text from which the same number can be read back.
std::string difference_text(double number) { return fmt::format("{}", number); }

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
      : out_(out), first_(printable(first)), second_(printable(second)) {}
  Status definition(const DefinitionDifference& difference) override {
    const std::string block = "/" + printable(difference.block);
    if (difference.object.empty() && difference.kind != DifferenceKind::kDiffers)
      return only(difference.kind, "block " + block);
    const std::string object =
        block + ": " + (difference.object.empty() ? "" : printable(difference.object));
    if (difference.kind != DifferenceKind::kDiffers) return only(difference.kind, object);
    return out_.write(fmt::format("{}{}{}: {} -> {}\n", object,
                                  difference.object.empty() ? "" : ": ", difference.property,
                                  printable(difference.first), printable(difference.second)));
  }
  Status variable(const ComparedVariable& variable) override {
    if (variable.different == 0) return {};
    const std::string name = "/" + printable(full_name(variable.block, variable.variable));
    std::string line = fmt::format("{}: {} of {} {}", name, plural(variable.different, "value"),
                                   variable.values, variable.different == 1 ? "differs" : "differ");
    if (variable.missing > 0)
      line += fmt::format("; the fill value in one file only: {}", variable.missing);
    if (variable.nans > 0) line += fmt::format("; NaN in one file only: {}", variable.nans);
    if (variable.largest)
      line +=
          fmt::format("; largest difference {} at {}", difference_text(variable.largest_difference),
                      index_text(variable.largest->index));
    line += "\n";
    for (const DifferentValue& value : variable.first)
      line +=
          fmt::format("{}{}: {} -> {}\n", name, index_text(value.index), value.first, value.second);
    return out_.write(line);
  }
  Status end(const Result<bool>&) override { return {}; }

 private:
  Status only(DifferenceKind kind, const std::string& object) {
    return out_.write(fmt::format("only in {}: {}\n",
                                  kind == DifferenceKind::kOnlyInFirst ? first_ : second_, object));
  }

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
                       variable.largest ? difference_text(variable.largest_difference) : "-"});
  }
  Status end(const Result<bool>&) override {
    NMB_TRY(table_.finish());
    return out_.write(fmt::format("{} compared, {} with different values; {} of definitions\n",
                                  plural(variables_, "variable"), different_,
                                  plural(definitions_, "difference")));
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
    Json json{{"block", json_text(difference.block)}, {"object", json_text(difference.object)}};
    if (difference.kind != DifferenceKind::kDiffers) {
      json["only_in"] = difference.kind == DifferenceKind::kOnlyInFirst ? "first" : "second";
    } else {
      json["property"] = difference.property;
      json["first"] = json_text(difference.first);
      json["second"] = json_text(difference.second);
    }
    return add(json);
  }
  Status variable(const ComparedVariable& variable) override {
    if (variable.different == 0 && !all_) return {};
    Json json{{"block", json_text(variable.block)}, {"variable", json_text(variable.variable)},
              {"values", variable.values},          {"different", variable.different},
              {"fill_in_one", variable.missing},    {"nan_in_one", variable.nans},
              {"largest_difference", Json()},       {"first_differences", Json::array()}};
    if (variable.largest) {
      json["largest_difference"] = json_of(*variable.largest);
      // JSON has no infinity.
      json["largest_difference"]["difference"] =
          std::isfinite(variable.largest_difference)
              ? Json(variable.largest_difference)
              : Json(difference_text(variable.largest_difference));
    }
    for (const DifferentValue& value : variable.first)
      json["first_differences"].push_back(json_of(value));
    return add(json);
  }
  Status end(const Result<bool>& is_same) override {
    const std::string result =
        is_same.ok() ? fmt::format("\"same\":{}", *is_same)
                     : "\"error\":" + Json(json_text(is_same.status().text())).dump(-1, ' ', true);
    return out_.write("\n]," + result + "}\n");
  }

 private:
  static Json json_of(const DifferentValue& value) {
    return {{"index", value.index},
            {"first", json_text(value.first)},
            {"second", json_text(value.second)}};
  }
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
}

Status DiffCommand::execute() {
  Status status;
  if (!tolerance_.empty()) status = options_.tolerance.set(tolerance_).of_object("--tolerance");
  if (status.ok()) status = InspectCommand::execute();
  // Exit code 1 means that the files differ.
  if (!status.ok()) tool_.diagnostics().raise(Exit::kCannotRun);
  return status;
}

Status DiffCommand::run(const InspectedFile& file) {
  options_.content.threads = tool_.options().threads;
  options_.content.set_memory(tool_.options().memory);
  NMB_ASSIGN(const std::shared_ptr<const InputFile> input, InputFile::open(other_));
  Result<InspectedFile> opened = InspectedFile::open(input, tool_.options().external);
  if (!opened.ok()) return opened.status().in_file(other_);
  const InspectedFile& other = *opened;
  if (const Reader* reader = other.reader())
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
