package archive_test

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/moving/archive"
	"github.com/perennialhq/perennial/internal/store/storetest"
)

// packed returns an archive with the given files.
func packed(t *testing.T, files map[string]string) []byte {
	t.Helper()
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		w, err := z.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(files[name])); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// changed returns files in which one has other content, and the manifest that fits it.
func changed(t *testing.T, files map[string]string, name, content string, records int) map[string]string {
	t.Helper()
	return manifest(t, files, func(m *archive.Manifest) {
		i := slices.IndexFunc(m.Files, func(f archive.File) bool { return f.Name == name })
		sum := sha256.Sum256([]byte(content))
		m.Files[i].Bytes, m.Files[i].SHA256, m.Files[i].Records = int64(len(content)), hex.EncodeToString(sum[:]), records
	}, name, content)
}

// manifest returns files with another manifest and, by name and content, another file.
func manifest(t *testing.T, files map[string]string, change func(*archive.Manifest), other ...string) map[string]string {
	t.Helper()
	files = maps.Clone(files)
	var m archive.Manifest
	if err := json.Unmarshal([]byte(files["manifest.json"]), &m); err != nil {
		t.Fatal(err)
	}
	change(&m)
	text, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	files["manifest.json"] = string(text)
	if len(other) == 2 {
		files[other[0]] = other[1]
	}
	return files
}

func without(files map[string]string, name string) map[string]string {
	files = maps.Clone(files)
	delete(files, name)
	return files
}

func with(files map[string]string, name, content string) map[string]string {
	files = maps.Clone(files)
	files[name] = content
	return files
}

// A bad archive is refused with the reason, and nothing is changed.
func TestBadArchiveIsRefusedWithReason(t *testing.T) {
	t.Parallel()
	source := storetest.Inhabited(t)["SQLite"]
	file := export(t, serviceOn(storetest.Open(t, source)))
	good := contents(t, file)
	contracts, attempts := good["contracts.jsonl"], good["attempts.jsonl"]
	first, _, _ := strings.Cut(contracts, "\n")
	n := strings.Count(contracts, "\n")
	tries := strings.Count(attempts, "\n")
	_, otherContracts, _ := strings.Cut(contracts, "\n")
	plans := good["planGroups.jsonl"]
	groups := strings.Count(plans, "\n")
	unchanged := func(*archive.Manifest) {}
	for _, row := range []struct {
		name string
		file []byte
		kind fault.Kind
		says string
	}{
		{"an empty file", nil, fault.Invalid, "no zip file, or its end is missing"},
		{"a text", []byte("id,status\n1,ACTIVE\n"), fault.Invalid, "no zip file, or its end is missing"},
		{"a file that was cut off", file[:len(file)-100], fault.Invalid, "no zip file, or its end is missing"},
		{"another zip file", packed(t, map[string]string{"readme.txt": "hello"}), fault.Invalid, "manifest.json is missing"},
		{"no manifest", packed(t, without(good, "manifest.json")), fault.Invalid, "manifest.json is missing"},
		{"a manifest that is no JSON", packed(t, with(good, "manifest.json", "{")), fault.Invalid, "manifest.json is no manifest"},
		{"a manifest without end", packed(t, with(good, "manifest.json", manyBytes())), fault.Invalid, "manifest.json is longer than"},
		{"another format", packed(t, manifest(t, good, func(m *archive.Manifest) { m.Format = "csv" })), fault.Invalid, `the format is "csv"`},
		{"a newer version", packed(t, manifest(t, good, func(m *archive.Manifest) { m.Version = 2 })), fault.FailedPrecondition, "version 2 of the format, and this service reads up to 1"},
		{"no version", packed(t, manifest(t, good, func(m *archive.Manifest) { m.Version = 0 })), fault.Invalid, "version 0 of the format does not exist"},
		{"numbers near the end", packed(t, manifest(t, good, func(m *archive.Manifest) { m.Highest = 1 << 52 })), fault.Invalid, "are not possible"},
		{"a missing file", packed(t, without(good, "contracts.jsonl")), fault.Invalid, "contracts.jsonl is missing"},
		{"a missing table", packed(t, without(good, "contracts.csv")), fault.Invalid, "contracts.csv is missing"},
		{"a file that the manifest does not have", packed(t, manifest(t, good, func(m *archive.Manifest) { m.Files = m.Files[1:] })), fault.Invalid, "is not in the manifest"},
		{"a path outside", packed(t, with(good, "../../etc/passwd", "root")), fault.Invalid, `"../../etc/passwd" is no file of an archive`},
		{"an absolute path", packed(t, with(good, "/etc/passwd", "root")), fault.Invalid, `"/etc/passwd" is no file of an archive`},
		{"a file twice", twice(t, good), fault.Invalid, "contracts.jsonl is in the archive twice"},
		{"a zip bomb", packed(t, with(good, "contracts.csv", strings.Repeat("0", 64<<20))), fault.Invalid, "contracts.csv would unpack to more than 400 times its size"},
		{"another size", packed(t, with(good, "contracts.jsonl", otherContracts)), fault.Invalid, "by the manifest"},
		{"another content of the same size", packed(t, with(good, "contracts.jsonl", strings.Replace(contracts, "ACTIVE", "PAUSED", 1))), fault.Invalid, "contracts.jsonl is not what the manifest has the SHA-256 of"},
		{"another table of the same size", packed(t, with(good, "contracts.csv", strings.Replace(good["contracts.csv"], "ACTIVE", "PAUSED", 1))), fault.Invalid, "contracts.csv is not what the manifest has the SHA-256 of"},
		{"a bit that fell over", flipped(file), fault.Invalid, "is damaged"},
		{"fewer records", packed(t, changed(t, good, "contracts.jsonl", contracts, n+1)), fault.Invalid, fmt.Sprintf("contracts.jsonl has %d records, and %d by the manifest", n, n+1)},
		{"more records", packed(t, changed(t, good, "contracts.jsonl", contracts, n-1)), fault.Invalid, fmt.Sprintf("contracts.jsonl has more than the %d records", n-1)},
		{"a contract twice", packed(t, changed(t, good, "contracts.jsonl", first+"\n"+contracts, n+1)), fault.Invalid, "contracts.jsonl, line 2: the record is there twice"},
		{"another order", packed(t, changed(t, good, "contracts.jsonl", otherContracts+first+"\n", n)), fault.Invalid, fmt.Sprintf("contracts.jsonl, line %d: the records are not in order", n)},
		{"no end of line", packed(t, changed(t, good, "contracts.jsonl", strings.TrimSuffix(contracts, "\n"), n)), fault.Invalid, "the line has no end"},
		{"an empty line", packed(t, changed(t, good, "contracts.jsonl", contracts+"\n", n+1)), fault.Invalid, "it is no JSON object"},
		{"null", packed(t, changed(t, good, "contracts.jsonl", "null\n", 1)), fault.Invalid, "it is no JSON object"},
		{"a list", packed(t, changed(t, good, "contracts.jsonl", "[1]\n", 1)), fault.Invalid, "it is no JSON object"},
		{"a field too many", packed(t, changed(t, good, "contracts.jsonl", strings.Replace(contracts, `{"id"`, `{"x":1,"id"`, 1), n)), fault.Invalid, `contracts.jsonl, line 1: field "x" is unknown`},
		{"a field too few", packed(t, changed(t, good, "contracts.jsonl", strings.Replace(contracts, `"currency":"EUR",`, "", 1), n)), fault.Invalid, "contracts.jsonl, line 1: field currency is missing"},
		{"a text for a number", packed(t, changed(t, good, "contracts.jsonl", strings.Replace(contracts, `"id":1,`, `"id":"1",`, 1), n)), fault.Invalid, "field id: "},
		{"a fraction", packed(t, changed(t, good, "contracts.jsonl", strings.Replace(contracts, `"billingCount":1,`, `"billingCount":1.5,`, 1), n)), fault.Invalid, `field billingCount: "1.5" is no whole number`},
		{"no date", packed(t, changed(t, good, "contracts.jsonl", strings.Replace(contracts, `"createdAt":"`, `"createdAt":"yesterday `, 1), n)), fault.Invalid, "is not an instant such as"},
		{"a reference to nothing", packed(t, changed(t, good, "contracts.jsonl", otherContracts, n-1)), fault.Invalid, "field contractId: 1 is not among the contracts"},
		{"a number outside of the bounds", packed(t, manifest(t, good, func(m *archive.Manifest) { m.Lowest = m.Highest })), fault.Invalid, "as the manifest says"},
		{"an hour that does not exist", packed(t, changed(t, good, "shop.jsonl", strings.Replace(good["shop.jsonl"], `"orderHour":9`, `"orderHour":24`, 1), 1)), fault.Invalid, "24:0 is not a time of day"},
		{"no store", packed(t, changed(t, good, "shop.jsonl", "", 0)), fault.Invalid, "shop.jsonl has 0 records, not 1"},
		{"a long line", packed(t, changed(t, good, "attempts.jsonl", strings.Replace(attempts, `"note":"`, `"note":"`+noise(9<<20), 1), tries)), fault.Invalid, "attempts.jsonl, line 1: the record is longer than it may be"},
		{"another store", packed(t, manifest(t, good, func(m *archive.Manifest) { m.Shop.Domain = "other.myshopify.com" })), fault.Invalid, "the archive is of other.myshopify.com"},
		{"lines that are none", packed(t, changed(t, good, "contracts.jsonl", strings.Replace(contracts, `"lines":[`, `"lines":[7,`, 1), n)), fault.Invalid, "contracts.jsonl, line 1: the record cannot be read"},
		{"terms of plans that are none", packed(t, changed(t, good, "planGroups.jsonl", strings.Replace(plans, `"terms":{`, `"terms":{"memberOrderTag":7,`, 1), groups)), fault.Invalid, "planGroups.jsonl, line 1: the record cannot be read"},
		{"a million records, the last one twice", packed(t, changed(t, good, "removedPlanOptions.jsonl", million(), 1_000_001)), fault.Invalid, "removedPlanOptions.jsonl, line 1000001: the record is there twice"},
		{"a good one", packed(t, manifest(t, good, unchanged)), 0, ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s := serviceOn(storetest.SQLite(t))
			a, err := archive.Open(bytes.NewReader(row.file), int64(len(row.file)))
			if err == nil {
				_, err = s.Import(t.Context(), archive.Import{Archive: a, Domain: neighbour, Restarted: true, By: activity.Operator, Progress: silent})
			}
			_, found := s.Find(t.Context(), neighbour)
			if row.says == "" {
				if err != nil || found != nil {
					t.Errorf("it is refused: %v, %v", err, found)
				}
				return
			}
			if fault.KindOf(err) != row.kind || !strings.Contains(err.Error(), row.says) {
				t.Errorf("the failure is %s: %v; want %s, %q", fault.KindOf(err), err, row.kind, row.says)
			}
			if !fault.Is(found, fault.NotFound) {
				t.Errorf("the store was added: %v", found)
			}
		})
	}
}

// manyBytes are more than a manifest may have, and do not pack well.
func manyBytes() string { return noise(2 << 20) }

// noise returns n hexadecimal digits without a pattern.
func noise(n int) string {
	var b strings.Builder
	for i := 0; b.Len() < n; i++ {
		sum := sha256.Sum256(fmt.Append(nil, i))
		b.WriteString(hex.EncodeToString(sum[:]))
	}
	return b.String()[:n]
}

func million() string {
	var b strings.Builder
	for i := 1; i <= 1_000_000; i++ {
		fmt.Fprintf(&b, "{\"id\":%d,\"terms\":null}\n", i)
	}
	b.WriteString("{\"id\":1000000,\"terms\":null}\n")
	return b.String()
}

// twice returns an archive that has a file twice.
func twice(t *testing.T, files map[string]string) []byte {
	t.Helper()
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	for _, name := range append(slices.Sorted(maps.Keys(files)), "contracts.jsonl") {
		w, err := z.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(files[name])); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// flipped returns an archive in which one bit of the checksum of the contracts is another.
func flipped(file []byte) []byte {
	file = bytes.Clone(file)
	at := bytes.LastIndex(file, []byte("contracts.jsonl")) - 46 // where the entry of the directory begins
	file[at+16] ^= 4                                            // in the checksum
	return file
}
