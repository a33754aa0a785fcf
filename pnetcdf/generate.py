#!/usr/bin/env python3
"""Writes the C++ sources that have one function for each function of PnetCDF.

  generate.py entries OUT.cpp   the preloaded library: every name, passed to our part or to PnetCDF
  generate.py table OUT.cpp     our part: the typed functions over the few general ones
  generate.py unicode OUT.h     tables of Unicode for names (core/normal_form.cpp)
  generate.py names             the names, one a line

The table below is written from PnetCDF's documentation of its interface. A parameter is one letter:
i int, o MPI_Offset, p a pointer or a handle of MPI. Both libraries of MPI pass a handle in one register
or one word of the stack, so the preloaded library can hand it on without knowing its type.
"""
import hashlib
import sys
import unicodedata

# Functions whose first argument is the ID of an open file.
OF_FILE = """
close i|enddef i|_enddef ioooo|redef i|sync i|flush i|sync_numrecs i|abort i|begin_indep_data i
end_indep_data i|set_fill iip|def_var_fill iiip|fill_var_rec iio|def_dim ipop|def_var ipiipp
rename_dim iip|rename_var iip|inq ipppp|inq_format ip|inq_path ipp|inq_num_fix_vars ip
inq_num_rec_vars ip|inq_striping ipp|inq_version ip|inq_ndims ip|inq_nvars ip|inq_natts ip
inq_unlimdim ip|inq_dimid ipp|inq_dim iipp|inq_dimname iip|inq_dimlen iip|inq_var iippppp
inq_varid ipp|inq_varname iip|inq_vartype iip|inq_varndims iip|inq_vardimid iip|inq_varnatts iip
inq_varoffset iip|inq_var_fill iipp|inq_att iippp|inq_attid iipp|inq_atttype iipp|inq_attlen iipp
inq_attname iiip|rename_att iipp|del_att iip|inq_header_size ip|inq_header_extent ip|inq_recsize ip
inq_put_size ip|inq_get_size ip|inq_file_info ip|get_file_info ip|inq_nreqs ip|inq_buffer_usage ip
inq_buffer_size ip|buffer_attach io|buffer_detach i|wait iipp|wait_all iipp|cancel iipp
"""
# Functions that preload.cpp writes by hand, because a path or two IDs decide who gets the call.
BY_HAND = "create ppipp|open ppipp|inq_file_format pp|inq_files_opened pp|copy_att iipii"
# Functions that concern no file, or any file: always PnetCDF's. The last two return a text.
PASSED = """
delete pp|set_default_format ip|inq_default_format p|inq_malloc_size p|inq_malloc_max_size p
inq_malloc_list -|inq_libvers - p|strerror i p|strerrno i p
"""
# The functions of Fortran-77 on an open file, by the functions of C. A parameter is one letter, always passed by
# address: f the file, v a variable, d a dimension, a an attribute (all counted from 1), i int, o MPI_Offset, e a record
# (from 1), s a text that goes in, S a text that comes out, x text as values, p what both languages pass alike, A the ID
# of a new or found object, U the same where there may be none, D dimensions of a new variable, O those of a variable,
# k a start, c a count, K and C those of varn, T a datatype, N a new MPI_Info.
FORTRAN = """
close f|enddef f|_enddef foooo|redef f|sync f|flush f|sync_numrecs f|abort f|begin_indep_data f|end_indep_data f
set_fill fip|def_var_fill fvip|fill_var_rec fve|def_dim fsoA|def_var fsiiDA|rename_dim fds|rename_var fvs
inq fpppU|inq_format fp|inq_path fpS|inq_num_fix_vars fp|inq_num_rec_vars fp|inq_striping fpp|inq_version fp
inq_ndims fp|inq_nvars fp|inq_natts fp|inq_unlimdim fU|inq_dimid fsA|inq_dim fdSp|inq_dimname fdS|inq_dimlen fdp
inq_var fvSppOp|inq_varid fsA|inq_varname fvS|inq_vartype fvp|inq_varndims fvp|inq_vardimid fvO|inq_varnatts fvp
inq_varoffset fvp|inq_var_fill fvpp|inq_att fvspp|inq_attid fvsA|inq_atttype fvsp|inq_attlen fvsp|inq_attname fvaS
rename_att fvss|del_att fvs|inq_header_size fp|inq_header_extent fp|inq_recsize fp|inq_put_size fp|inq_get_size fp
inq_file_info fN|get_file_info fN|inq_nreqs fp|inq_buffer_usage fp|inq_buffer_size fp|buffer_attach fo|buffer_detach f
wait fipp|wait_all fipp|cancel fipp
"""
FORTRAN_TYPES = [("", ""), ("text", "text"), ("int1", "schar"), ("int2", "short"), ("int", "int"), ("int8", "longlong"),
                 ("real", "float"), ("double", "double")]
# Types of memory: suffix, C type, MPI datatype. The first is the flexible form.
TYPES = [
    ("", "void", None), ("text", "char", "MPI_CHAR"), ("schar", "signed char", "MPI_SIGNED_CHAR"),
    ("uchar", "unsigned char", "MPI_UNSIGNED_CHAR"), ("short", "short", "MPI_SHORT"),
    ("ushort", "unsigned short", "MPI_UNSIGNED_SHORT"), ("int", "int", "MPI_INT"),
    ("uint", "unsigned", "MPI_UNSIGNED"), ("long", "long", "MPI_LONG"), ("float", "float", "MPI_FLOAT"),
    ("double", "double", "MPI_DOUBLE"), ("longlong", "long long", "MPI_LONG_LONG_INT"),
    ("ulonglong", "unsigned long long", "MPI_UNSIGNED_LONG_LONG"),
]
KINDS = ["", "1", "a", "s", "m"]  # var, var1, vara, vars, varm
INDEX = {"": [], "1": ["start"], "a": ["start", "count"], "s": ["start", "count", "stride"],
         "m": ["start", "count", "stride", "imap"]}


class Function:
    def __init__(self, name, parameters, group, result="i", body=None):
        self.name, self.parameters, self.group, self.result = name, parameters, group, result
        self.body = body  # for `table`: parameters and call of the typed function, or None

    @property
    def symbol(self):
        return f"nfmpi_{self.name}_" if self.group == "fortran" else "ncmpi_" + self.name


def listed(text, group):
    for item in text.replace("\n", "|").split("|"):
        if item.strip():
            name, parameters, *result = item.split()
            yield Function(name, parameters.strip("-"), group, *result)


def typed(suffix, all_):
    return ("_" + suffix if suffix else "") + ("_all" if all_ else "")


def offsets(names):
    return "".join(f"const MPI_Offset* {name}, " for name in names)


def pointers(names):
    return "".join(f"MPI_Offset* const* {name}, " for name in names)


def nulls(names, last):
    return ", ".join(name if name in names else "nullptr" for name in last)


def accesses():
    last = ["start", "count", "stride", "imap"]
    plural = {name: name + "s" for name in last}
    for verb in ["put", "get", "iput", "iget", "bput"]:
        blocking = verb in ("put", "get")
        reads = verb.endswith("get")
        const = "" if reads else "const "
        mode = ("kRead" if reads else "kWrite") + ("" if blocking else " | kNonblocking")
        mode += " | kBuffered" if verb == "bput" else ""
        for all_ in ([False, True] if blocking else [False]):
            flags = mode + (" | kCollective" if all_ else "")
            request, pass_request = ("", "nullptr") if blocking else (", int* request", "request")
            for suffix, c_type, mpi in TYPES:
                memory = f"{const}{c_type}* buffer" + (", MPI_Offset count_of, MPI_Datatype type" if not mpi else "")
                passed = "memory(buffer), " + ("count_of, type" if not mpi else f"kCountIgnore, {mpi}")
                flexible = flags + ("" if mpi else " | kFlexible")
                extra = "" if mpi else "op"
                for kind in KINDS:
                    index = INDEX[kind]
                    yield Function(f"{verb}_var{kind}{typed(suffix, all_)}",
                                   "ii" + "p" * len(index) + "p" + extra + ("" if blocking else "p"), "file", body=(
                        f"int file, int variable, {offsets(index)}{memory}{request}",
                        f"access_var(file, variable, Api::kVar{kind.upper() if kind != '1' else '1'}, "
                        f"{nulls(index, last)}, {passed}, {flexible}, {pass_request})"))
                yield Function(f"{verb}_varn{typed(suffix, all_)}", "iiippp" + extra + ("" if blocking else "p"), "file", body=(
                    f"int file, int variable, int number, {pointers(['starts', 'counts'])}{memory}{request}",
                    f"access_varn(file, variable, number, starts, counts, {passed}, {flexible}, {pass_request})"))
                if blocking:
                    many = f"{'' if reads else 'const '}{c_type}* const* buffers" if not reads else f"{c_type}** buffers"
                    many += "" if mpi else ", const MPI_Offset* counts_of, const MPI_Datatype* types"
                    for kind in KINDS:
                        index = [plural[name] for name in INDEX[kind]]
                        passed_many = "counts_of, types, MPI_DATATYPE_NULL" if not mpi else f"nullptr, nullptr, {mpi}"
                        yield Function(f"m{verb}_var{kind}{typed(suffix, all_)}",
                                       "iip" + "p" * len(index) + "p" + ("" if mpi else "pp"), "file", body=(
                            f"int file, int number, int* variables, {pointers(index)}{many}",
                            f"access_mvar(file, number, variables, Api::kVar{kind.upper() if kind != '1' else '1'}, "
                            f"{nulls(index, [plural[n] for n in last])}, memories(buffers), {passed_many}, {flexible})"))
            if blocking:
                yield Function(f"{verb}_vard{'_all' if all_ else ''}", "iippop", "file", body=(
                    f"int file, int variable, MPI_Datatype file_type, {const}void* buffer, MPI_Offset count_of, MPI_Datatype type",
                    f"access_vard(file, variable, file_type, memory(buffer), count_of, type, {flags} | kFlexible)"))
    for suffix, c_type, mpi in TYPES:
        yield Function(f"get_att{typed(suffix, False)}", "iipp", "file", body=(
            f"int file, int variable, const char* name, {c_type}* values",
            f"get_att(file, variable, name, values, {mpi or 'MPI_DATATYPE_NULL'})"))
        xtype = suffix != "text"
        yield Function(f"put_att{typed(suffix, False)}", "iip" + ("i" if xtype else "") + "op", "file", body=(
            f"int file, int variable, const char* name, {'int xtype, ' if xtype else ''}MPI_Offset count, const {c_type}* values",
            f"put_att(file, variable, name, {'xtype' if xtype else '2'}, count, values, {mpi or 'MPI_DATATYPE_NULL'})"))


def fortran_functions():
    """Functions of Fortran, with the letters of FORTRAN in `body`: (letters, name of the C function)."""
    def made(name, letters, c_function):
        texts = sum(letters.count(c) for c in "sSx")
        return Function(name, "p" * len(letters) + "o" * texts, "fortran", body=(letters, c_function))

    for item in FORTRAN.replace("\n", "|").split("|"):
        if item.strip():
            name, letters = item.split()
            yield made(name, letters, "call_" + name)
    for name, c_name in FORTRAN_TYPES:
        if name != "text":
            for verb, letters in [("get", "fvsp"), ("put", "fvsiop")]:
                yield made(f"{verb}_att{typed(name, False)}", letters, f"typed_{verb}_att{typed(c_name, False)}")
        else:
            yield made("get_att_text", "fvsx", "typed_get_att_text")
            yield made("put_att_text", "fvsox", "typed_put_att_text")
        values = ("p" if name != "text" else "x") + ("" if name else "oT")
        for verb in ["put", "get", "iput", "iget", "bput"]:
            blocking = verb in ("put", "get")
            tail = values + ("" if blocking else "p")
            for all_ in ([False, True] if blocking else [False]):
                for kind in KINDS:
                    index = "".join("k" if one == "start" else "c" for one in INDEX[kind])
                    yield made(f"{verb}_var{kind}{typed(name, all_)}", "fv" + index + tail,
                               f"typed_{verb}_var{kind}{typed(c_name, all_)}")
                yield made(f"{verb}_varn{typed(name, all_)}", "fviKC" + tail, f"typed_{verb}_varn{typed(c_name, all_)}")
                if blocking and not name:
                    yield made(f"{verb}_vard{'_all' if all_ else ''}", "fvTpoT", f"typed_{verb}_vard{'_all' if all_ else ''}")


def fortran_body(f):
    """Returns the lines of our function for a function of Fortran."""
    letters, c_function = f.body
    parameters, arguments, before, after, texts = [], [], [], [], []
    needs_slab = any(c in letters for c in "kcKCO")
    if needs_slab:
        before.append("FortranSlab slab(*a0, *a1 - 1);")
        before.append("if (slab.failed() != code::kOk) return slab.failed();")
    for i, letter in enumerate(letters):
        a = f"a{i}"
        if letter in "sSx":
            texts.append(i)
        kind = {"o": "MPI_Offset*", "e": "MPI_Offset*", "k": "MPI_Offset*", "c": "MPI_Offset*", "K": "MPI_Offset*",
                "C": "MPI_Offset*", "s": "char*", "S": "char*", "x": "char*", "p": "void*"}.get(letter, "int*")
        parameters.append(f"{kind} {a}")
        if letter == "s":
            before.append(f"const std::string s{i} = fortran_text({a}, z{i});")
        elif letter == "S":
            before.append(f"FortranResult s{i}({a}, z{i});")
            after.append(f"s{i}.give(code);")
        elif letter in "AU":
            before.append(f"int n{i} = -1;")
            after.append(f"if (code == code::kOk) *{a} = n{i} < 0 ? n{i} : n{i} + 1;" if letter == "U" else
                         f"if (code == code::kOk) *{a} = n{i} + 1;")
        elif letter == "D":
            before.append(f"const std::vector<int> n{i} = fortran_dims({a}, *a{i - 1});")
        elif letter == "O":
            before.append(f"std::vector<int> n{i}(slab.rank() + 1);")
            after.append(f"if (code == code::kOk) slab.give_dims(n{i}, {a});")
        elif letter == "N":
            before.append(f"MPI_Info n{i} = MPI_INFO_NULL;")
            after.append(f"*{a} = MPI_Info_c2f(n{i});")
        number = letters[:i].rfind("i")
        arguments.append({"f": f"*{a}", "v": f"*{a} - 1", "d": f"*{a} - 1", "a": f"*{a} - 1", "i": f"*{a}", "o": f"*{a}",
                          "e": f"*{a} - 1", "s": f"s{i}.c_str()", "S": f"s{i}.room()", "x": a, "A": f"&n{i}",
                          "U": f"&n{i}", "D": f"n{i}.data()", "O": f"n{i}.data()", "k": f"slab.start({a})",
                          "c": f"slab.plain({a})", "K": f"slab.starts({a}, *a{number})",
                          "C": f"slab.counts({a}, *a{number})", "T": f"fortran_type(*{a})", "N": f"&n{i}",
                          "p": f"any({a})"}[letter])
    parameters += [f"std::size_t{' z%d' % i if letters[i] != 'x' else ''}" for i in texts]
    return ([f"int fortran_{f.name}({', '.join(parameters)}) {{", "  return guarded([&]() -> int {"]
            + ["    " + line for line in before] + [f"    const int code = {c_function}({', '.join(arguments)});"]
            + ["    " + line for line in after] + ["    return code;", "  });", "}"])


def functions():
    return (list(listed(BY_HAND, "hand")) + list(listed(OF_FILE, "file")) + list(listed(PASSED, "passed"))
            + list(accesses()) + list(fortran_functions()))


C_TYPES = {"i": "int", "o": "long long", "p": "void*"}


def digest(all_):
    text = "\n".join(f"{f.symbol} {f.parameters} {f.result}" for f in all_)
    return int(hashlib.sha256(text.encode()).hexdigest()[:8], 16)


def entries(all_):
    lines = ["// Written by generate.py.", '#include "interface.h"', '#include "preload.h"', "", "namespace nmb::preload {",
             f"const unsigned kTableVersion = {digest(all_)}u;", f"const int kFunctions = {len(all_)};",
             f"Function real_functions[{len(all_)}];", "const char* const kNames[] = {"]
    lines += [f'  "{f.symbol}",' for f in all_]
    by_hand = ", ".join(str(i) for i, f in enumerate(all_) if f.group == "hand")
    lines += ["};", f"const Numbers kNumbers{{{by_hand}}};", "}  // namespace nmb::preload", "", 'extern "C" {', ""]
    for i, f in enumerate(all_):
        if f.group == "hand":
            continue
        result = C_TYPES[f.result]
        parameters = ", ".join(f"{C_TYPES[p]} a{k}" for k, p in enumerate(f.parameters))
        arguments = ", ".join(f"a{k}" for k in range(len(f.parameters)))
        types = ", ".join(C_TYPES[p] for p in f.parameters)
        to = {"file": f"of_file(a0, {i})", "fortran": f"of_file(*static_cast<const int*>(a0), {i})"}.get(
            f.group, f"of_pnetcdf({i})")
        missing = "kMissing" if f.result == "i" else "const_cast<char*>(\"PnetCDF is not loaded\")"
        lines += [f"NMB_ENTRY {result} {f.symbol}({parameters}) {{",
                  f"  const auto call = nmb::preload::{to};",
                  f"  return call ? reinterpret_cast<{result} (*)({types})>(call)({arguments}) : nmb::preload::{missing};"
                  if f.result == "i" else
                  f"  return call ? reinterpret_cast<{result} (*)({types})>(call)({arguments}) : {missing};",
                  "}"]
    lines += ["", "}"]
    return lines


def table(all_):
    lines = ["// Written by generate.py.", '#include "calls.h"', '#include "fortran.h"', '#include "interface.h"', "",
             "namespace nmb::pnetcdf {", "",
             "namespace {", ""]
    lines += ["template <class T>", "void* memory(const T* buffer) {", "  return const_cast<T*>(buffer);", "}",
              "template <class T>", "void* const* memories(T* const* buffers) {",
              "  return const_cast<void* const*>(reinterpret_cast<const void* const*>(buffers));", "}", ""]
    for f in all_:
        if f.group == "fortran":
            lines += fortran_body(f)
        elif f.body:
            lines += [f"int typed_{f.name}({f.body[0]}) {{", f"  return guarded([&] {{ return {f.body[1]}; }});", "}"]
    lines += ["", "}  // namespace", "", "Function const kFunctions[] = {"]
    for f in all_:
        if f.group == "fortran":
            lines.append(f"    reinterpret_cast<Function>(&fortran_{f.name}),")
        elif f.body:
            lines.append(f"    reinterpret_cast<Function>(&typed_{f.name}),")
        elif f.group == "passed":
            lines.append("    nullptr,")
        else:
            lines.append(f"    reinterpret_cast<Function>(&call_{f.name}),")
    numbers = {f.name: i for i, f in enumerate(all_) if f.group != "fortran"}
    lines += ["};", f"const unsigned kTableVersion = {digest(all_)}u;", f"const int kFunctionCount = {len(all_)};"]
    for name in ["inq_att", "get_att", "put_att", "inq_default_format"]:
        lines.append(f"const int kIndex_{name} = {numbers[name]};")
    lines += ["", "}  // namespace nmb::pnetcdf"]
    return lines


def unicode_tables():
    combining, decompositions, compositions = [], [], []
    for point in range(0x110000):
        text = chr(point)
        if unicodedata.combining(text):
            combining.append(f"{{0x{point:x}, {unicodedata.combining(text)}}},")
        parts = unicodedata.decomposition(text).split()
        if not parts or parts[0].startswith("<"):
            continue
        first, second = int(parts[0], 16), int(parts[1], 16) if len(parts) > 1 else 0
        decompositions.append(f"{{0x{point:x}, 0x{first:x}, 0x{second:x}}},")
        if unicodedata.normalize("NFC", text) == text and second:
            compositions.append((first, second, point))
    return (["// Written by generate.py from Unicode " + unicodedata.unidata_version + ".", "#pragma once", "",
             "namespace nmb::pnetcdf {", "", "struct Combining {", "  char32_t point;", "  unsigned char combining;",
             "};", "struct Decomposition {", "  char32_t point, first, second;", "};", "struct Composition {",
             "  char32_t first, second, point;", "};", "constexpr Combining kCombining[] = {"] + combining
            + ["};", "constexpr Decomposition kDecompositions[] = {"] + decompositions
            + ["};", "constexpr Composition kCompositions[] = {"]
            + [f"{{0x{a:x}, 0x{b:x}, 0x{c:x}}}," for a, b, c in sorted(compositions)] + ["};", "", "}  // namespace nmb::pnetcdf"])


def main():
    all_ = functions()
    if sys.argv[1] == "names":
        print("\n".join(f.symbol for f in all_))
        return
    lines = {"entries": entries, "table": table, "unicode": lambda _: unicode_tables()}[sys.argv[1]](all_)
    with open(sys.argv[2], "w") as out:
        out.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
