package roomtest_test

import (
	"bytes"
	"mime/multipart"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/perennialhq/perennial/internal/domain/moving"
	"github.com/perennialhq/perennial/internal/domain/staff"
	"github.com/perennialhq/perennial/internal/web/dashboard/dashboardtest"
)

// contractsFile is a file whose columns are found by their names, save one.
const contractsFile = "Subscription ID;Customer;Variant;Quantity;Price;Billing interval;When\r\n" +
	"S-1;7;4001;1;12,50;MONTH;2026-12-24\r\nS-<b>2;8;4002;2;1,00;MONTH;2026-12-25\r\n"

// upload sends the form with a file; empty: without one.
func (b *movesBench) upload(name, content string, fields ...string) dashboardtest.Page {
	b.Helper()
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	for n := 0; n < len(fields); n += 2 {
		if err := form.WriteField(fields[n], fields[n+1]); err != nil {
			b.Fatal(err)
		}
	}
	part, err := form.CreateFormFile("file", name)
	if err != nil {
		b.Fatal(err)
	}
	if _, err := part.Write([]byte(content)); err != nil {
		b.Fatal(err)
	}
	if err := form.Close(); err != nil {
		b.Fatal(err)
	}
	req, err := http.NewRequestWithContext(b.Context(), http.MethodPost, b.URL+movesPath+"/file", &body)
	if err != nil {
		b.Fatal(err)
	}
	req.Header.Set("Content-Type", form.FormDataContentType())
	return b.Do(req)
}

func TestFileIsUploadedAndItsColumnsNamed(t *testing.T) {
	t.Parallel()
	b := openMoves(t)
	b.Want(b.Get(movesPath+"/file"), http.StatusOK, "Nothing is changed anywhere while it reads", `enctype="multipart/form-data"`, "at most 15 MB", "template.csv")
	template := b.Get(movesPath + "/template.csv")
	if b.Want(template, http.StatusOK, "nextOrderDate", "variantId"); template.Header.Get("Content-Disposition") != `attachment; filename="contracts-template.csv"` {
		t.Errorf("the template is sent with %v", template.Header)
	}
	b.plans()
	b.Want(b.upload("a.csv", contractsFile, "there", "monthly", "here", "7001"), http.StatusUnprocessableEntity, "is not the number of a selling plan", `id="e-plan-1"`)
	p := b.upload("old contracts.csv", contractsFile, "there", "6101", "here", "7001")
	b.Want(p, http.StatusOK, "The file was uploaded", "Move from the file old contracts.csv", `<option value="Customer" selected>`, "S-1 · S-&lt;b&gt;2", "2026-12-24", "other fields", "1 KB, 7 columns",
		"Columns that are not read", "It looks like a date: choose the field that it holds above, or leave it out.")
	path, _, _ := strings.Cut(p.Path, "?")

	fields := []string{"column-id", "Subscription ID", "column-customerId", "Customer", "column-variantId", "Variant", "column-quantity", "Quantity", "column-price", "Price"}
	p = b.Post(path+"/mapping", append(fields, "do", "show", "column-nextOrderDate", "When", "decimals", "comma")...)
	b.Want(p, http.StatusOK, `<option value="When" selected>`, "2026-12-24 · 2026-12-25", `<option value="comma" selected>`)
	if strings.Contains(p.Text, "Choose the column that has it") {
		t.Error("the form refuses what it only shows")
	}
	p = b.Post(path+"/mapping", append(fields, "do", "read")...)
	b.Want(p, http.StatusUnprocessableEntity, "Billing interval has no column", `id="e-column-billingInterval"`, `<option value="Variant" selected>`)
	p = b.Post(path+"/mapping", append(fields, "do", "read", "column-billingInterval", "Billing interval", "column-nextOrderDate", "When", "decimals", "comma")...)
	b.Want(p, http.StatusOK, "The contracts of the file are read", "Reading", "3 lines", "Change columns")
	id, _ := strconv.ParseInt(path[len(movesPath)+1:], 10, 64)
	got, err := b.moves.Progress(t.Context(), b.First.ID, moving.ID(id))
	if err != nil || got.Move.Status != moving.Listing || got.Move.Plans[6101] != 7001 || got.Move.File.Fields["nextOrderDate"] != "When" || got.Move.File.DecimalComma == nil || !*got.Move.File.DecimalComma {
		t.Errorf("the file is read as %+v, %v", got.Move, err)
	}
	b.Want(b.Get(path+"/mapping"), http.StatusOK, `<option value="When" selected>`, `<option value="comma" selected>`)
	b.Want(b.Get(path+"/end"), http.StatusOK, "The file is removed")
	b.Want(b.Get(movesPath+"/file?like="+path[len(movesPath)+1:]), http.StatusOK, `value="6101"`, `<option value="7001" selected>`)
	b.Want(b.upload("second.csv", contractsFile), http.StatusUnprocessableEntity, "is open: end it first", `id="e-file"`)
}

// A column that looks like an amount, a quantity or a date keeps the file from being read until it is mapped or
// left out. The choice stays with the move, and serves the next file with the same columns.
func TestUnreadColumnStopsFileUntilItIsLeftOut(t *testing.T) {
	t.Parallel()
	b := openMoves(t)
	const file = "Contract;Customer;Variant;Price;Interval;Next order;Tax;Colour;Gift\nS-1;7;4001;12,50;MONTH;2026-12-24;1,90;<red>;\nS-2;8;4001;12,50;MONTH;2026-12-24;2,50;blue;\n"
	p := b.upload("tax.csv", file)
	b.Want(p, http.StatusOK, "It looks like an amount: choose the field", "1,90 · 2,50", "It is not read.", "&lt;red&gt; · blue", "It is empty.", `value="Tax"`)
	if strings.Contains(p.Text, `value="Colour" aria-describedby`) || strings.Contains(p.Text, "Choose a field for it") {
		t.Error("the page asks about a column of texts, or refuses what was not sent")
	}
	path, _, _ := strings.Cut(p.Path, "?")
	fields := []string{
		"do", "read", "column-id", "Contract", "column-customerId", "Customer", "column-variantId", "Variant", "column-price", "Price",
		"column-billingInterval", "Interval", "column-nextOrderDate", "Next order", "order", "day",
	}
	b.Want(b.Post(path+"/mapping", fields...), http.StatusUnprocessableEntity,
		`The column &#34;Tax&#34; looks like an amount and is not read`, "Choose a field for it, or leave it out.", `aria-invalid="true"`, `<option value="day" selected>`)
	b.Want(b.Post(path+"/mapping", append(fields, "left-out", "Vat")...), http.StatusUnprocessableEntity, `no column &#34;Vat&#34;`)
	b.Want(b.Post(path+"/mapping", append(fields, "left-out", "Tax")...), http.StatusOK, "The contracts of the file are read", "Columns not read", "Tax, Colour, Gift")
	b.Want(b.Get(path+"/mapping"), http.StatusOK, `aria-describedby="h-left-out-1" checked>`, `<option value="day" selected>`)
	b.Want(b.Post(path+"/read"), http.StatusOK, "Reading")
	b.Want(b.Post(path+"/end"), http.StatusOK, "The move was ended")
	next := b.upload("later.csv", file)
	b.Want(next, http.StatusOK, `aria-describedby="h-left-out-1" checked>`)
	path, _, _ = strings.Cut(next.Path, "?")
	b.Want(b.Post(path+"/mapping", append(fields, "column-discountAmount", "Tax")...), http.StatusOK, "The contracts of the file are read", "Colour, Gift")
}

func TestTotalsOfFileStandBesideWhatGoes(t *testing.T) {
	t.Parallel()
	b := openMoves(t)
	stays := b.item(2, moving.Staying, movesFinding(moving.Stays, "rowTwice", "line 3"))
	path := b.put(moving.Move{Status: moving.Ready, ReadAt: b.Clock.Now(), File: &moving.File{
		Name: "a.csv", Bytes: 9, Parts: 1, Totals: moving.Totals{{Currency: "EUR", Contracts: 3, Unpriced: 1, Amount: 5000}, {Contracts: 1, Unpriced: 1}},
	}}, b.item(1, moving.Shadow), stays)
	p := b.Get(path)
	b.Want(p, http.StatusOK, "Totals of the file", "A row is in the file twice", "1 contract has an amount that cannot be read", "Not known")
	for _, cell := range []string{
		`data-l="In the file">50.00 EUR<small>3 contracts</small>`, `data-l="Goes">25.00 EUR<small>1 contract</small>`, `data-l="Stays">25.00 EUR<small>2 contracts</small>`,
		`data-l="In the file">–<small>1 contract</small>`,
	} {
		if !strings.Contains(p.Text, cell) {
			t.Errorf("the page lacks %s", cell)
		}
	}
	b.Want(b.Get(b.put(moving.Move{Status: moving.Ready, ReadAt: b.Clock.Now()})), http.StatusOK, "The next 30 days")
}

func TestFileThatCannotBeReadIsRefused(t *testing.T) {
	t.Parallel()
	b := openMoves(t)
	for name, row := range map[string]struct {
		file, content string
		status        int
		says          string
	}{
		"none is chosen":  {"", "", http.StatusUnprocessableEntity, "Choose a file"},
		"it is too large": {"a.csv", strings.Repeat("x", 15<<20+1), http.StatusRequestEntityTooLarge, "more than 15 MB"},
		"it is empty":     {"a.csv", "", http.StatusUnprocessableEntity, "file"},
		"it is cut off":   {"a.csv", "id;price\n7;1\n8;\"2\n9;3\n", http.StatusUnprocessableEntity, "Line 3 has a quotation mark that is not closed"},
		"it is a picture": {"a.csv", "\x89PNG\r\n\x1a\n\x00\x00\x00", http.StatusUnprocessableEntity, "file"},
	} {
		t.Run(name, func(t *testing.T) { b.Want(b.upload(row.file, row.content), row.status, row.says, `id="e-file"`) })
	}
	other := b.put(moving.Move{Status: moving.Ready, ReadAt: b.Clock.Now()})
	b.Want(b.Get(other+"/mapping"), http.StatusConflict, "not from a file")
	b.Want(b.Post(other+"/mapping"), http.StatusConflict, "not from a file")
}

func TestWhatIsWrongWithFileIsShownAtItsColumns(t *testing.T) {
	t.Parallel()
	b := openMoves(t)
	path := b.put(moving.Move{Status: moving.Mapping, Failure: "line 3 is <cut> off", File: &moving.File{Name: "a.csv", Bytes: 0}})
	b.Want(b.Get(path), http.StatusOK, "The file could not be read: line 3 is &lt;cut&gt; off.", "was not received to its end", "Drop the file")
}

func TestWaveOfFileSaysThatContractsMustBeStopped(t *testing.T) {
	t.Parallel()
	b := openMoves(t)
	i := b.item(-3, moving.Shadow)
	i.Contract.ImportedID, i.Coming.There, i.Coming.ThereOrders = "", 0, 0
	path := b.put(moving.Move{Status: moving.Ready, ReadAt: b.Clock.Now(), File: &moving.File{Name: "a.csv", Bytes: 9, Parts: 1}}, i)
	p := b.Get(path)
	if b.Want(p, http.StatusOK, "Stop the contracts where they are before you begin", "would be charged here", "Creating"); strings.Contains(p.Text, "No order was compared yet") || strings.Contains(p.Text, "API key") {
		t.Error("a file is compared, or has a key")
	}
	b.Want(b.Get(path+"/contracts"), http.StatusOK, "Line 3", "Being created")
	p = b.Get(path + "/wave?percent=100")
	if b.Want(p, http.StatusOK, "Stop these contracts where they are first.", "Create 100 percent of the contracts", "1 contract is created.", "25.00 EUR", "Create 1 contract"); strings.Contains(p.Text, "It is cancelled") || strings.Contains(p.Text, "there, ") {
		t.Error("a wave of a file cancels something")
	}
	b.Want(b.Post(path+"/wave", "percent", "100", "contracts", "1", "unexplained", "0"), http.StatusOK, "Each contract is created here.", "No longer")
}

func TestOnlyWhoManagesStoreUploads(t *testing.T) {
	t.Parallel()
	b := openMoves(t)
	b.Add("dev@staff.example", staff.Developer)
	b.SignIn("dev@staff.example")
	b.Want(b.Get(movesPath+"/file"), http.StatusForbidden)
	b.Want(b.upload("a.csv", contractsFile), http.StatusForbidden)
	if list, err := b.moves.Moves(t.Context(), b.First.ID); len(list) > 0 || err != nil {
		t.Errorf("a developer uploaded %+v, %v", list, err)
	}
}
