package main

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strconv"
	"time"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/platform/simulator"
	"github.com/perennialhq/perennial/test/process"
)

// shops is how many stores share the renewals.
const shops = 20

const appSecret = "bench-secret"

func shopDomain(i int) string { return fmt.Sprintf("bench-%d.myshopify.com", i) }
func shopToken(i int) string  { return fmt.Sprintf("bench-token-%d", i) }

// simulate is the process of the platform. It says where it answers and runs
// until its input ends.
func simulate(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("simulator", flag.ContinueOnError)
	stock := flags.String("stock", "{}", "what it has, as JSON")
	if err := flags.Parse(args); err != nil {
		return err
	}
	var o stockOptions
	if err := json.Unmarshal([]byte(*stock), &o); err != nil {
		return fmt.Errorf("-stock: %w", err)
	}
	sim, err := simulator.New(simulator.Options{
		AppSecret: appSecret, CompletionDelay: -1, AllowHTTPWebhooks: true, CostMaximum: unlimited, CostRestore: unlimited,
	})
	if err != nil {
		return err
	}
	if err := o.put(sim); err != nil {
		return err
	}
	mux := http.NewServeMux()
	if o.Maximum != 0 {
		m := newMeter(o)
		mux.Handle("/", m.metered(sim.Handler()))
		mux.HandleFunc("GET /purse", func(w http.ResponseWriter, _ *http.Request) { _ = json.NewEncoder(w).Encode(m.read()) })
		mux.HandleFunc("POST /limit", func(http.ResponseWriter, *http.Request) {
			sim.SetBudget(o.Maximum, o.Restore)
			m.begin()
		})
	} else {
		mux.Handle("/", sim.Handler())
	}
	mux.HandleFunc("GET /verdict", func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(judge(sim))
	})
	server := httptest.NewServer(mux)
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		cancel()
	}()
	fmt.Fprintln(os.Stdout, server.URL)
	return sim.Run(ctx)
}

// stockOptions say what the platform has.
type stockOptions struct {
	Shops     int
	Contracts int // that are due
	Still     int // that are not, for two weeks
	Due       time.Time
	Maximum   float64 // points that a store's calls may cost at once, from when they are limited; 0: never
	Restore   float64 // points that come back in a second
}

// stockSKU is what each store sells.
const stockSKU = "COFFEE-250"

// unlimited is a budget that nothing uses up, in points.
const unlimited = 1e9

// put makes the stores and their contracts.
func (o stockOptions) put(sim *simulator.Simulator) error {
	zone, err := process.NoonZone(clock.System{}.Now())
	if err != nil {
		return err
	}
	var variants []int64
	for i := range o.Shops {
		if err := sim.AddShop(simulator.ShopSpec{Domain: shopDomain(i), Token: shopToken(i), TimeZone: zone.String()}); err != nil {
			return err
		}
		made, err := sim.AddProduct(simulator.ProductSpec{Shop: shopDomain(i), Title: "Coffee", Variants: []simulator.VariantSpec{{Title: "250 g", SKU: stockSKU, Price: "9.90"}}})
		if err != nil {
			return err
		}
		variants = append(variants, made[0].ID)
	}
	for i := range o.Contracts + o.Still {
		due := o.Due
		if i >= o.Contracts {
			due = due.AddDate(0, 0, 14)
		}
		_, err := sim.Checkout(simulator.ContractSpec{
			Shop: shopDomain(i % o.Shops), Customer: simulator.CustomerSpec{Email: fmt.Sprintf("customer%d@example.com", i), FirstName: "Ada", LastName: strconv.Itoa(i)},
			CreatedAt: due.AddDate(0, -1, 0), NextBillingDate: due, Billing: simulator.PolicySpec{Interval: "MONTH", IntervalCount: 1},
			Lines: []simulator.LineSpec{{VariantID: variants[i%o.Shops], Quantity: 2}},
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// verdict is what the platform's books say.
type verdict struct {
	Orders    int `json:"orders"`
	Contracts int `json:"contracts"` // that have an order
	WrongOnes int `json:"wrongOnes"` // orders for another cycle than the one that was due
}

func judge(sim *simulator.Simulator) verdict {
	var v verdict
	seen := make(map[int64]bool)
	for _, r := range sim.Orders(simulator.OrderFilter{}) {
		v.Orders++
		seen[r.Contract] = true
		if r.Cycle != 1 {
			v.WrongOnes++
		}
	}
	v.Contracts = len(seen)
	return v
}

// platform is the process that plays the platform.
type platform struct {
	url   string
	pid   int
	stock stockOptions
	end   func()
}

// startPlatform runs this program again as the platform.
func startPlatform(ctx context.Context, o stockOptions) (platform, error) {
	self, err := os.Executable()
	if err != nil {
		return platform{}, err
	}
	stock, err := json.Marshal(o)
	if err != nil {
		return platform{}, err
	}
	cmd := exec.CommandContext(ctx, self, "simulator", "-stock", string(stock)) //nolint:gosec // ourselves
	cmd.Stderr = os.Stderr
	leash, err := cmd.StdinPipe()
	if err != nil {
		return platform{}, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return platform{}, err
	}
	if err := cmd.Start(); err != nil {
		return platform{}, err
	}
	end := func() {
		_ = leash.Close()
		_ = cmd.Wait()
	}
	line := bufio.NewScanner(out)
	if !line.Scan() {
		end()
		return platform{}, fmt.Errorf("the simulated platform did not start: %w", line.Err())
	}
	return platform{line.Text(), cmd.Process.Pid, o, end}, nil
}

// verdict asks what the platform's books say.
func (p platform) verdict(ctx context.Context) (v verdict, err error) {
	return v, p.ask(ctx, "/verdict", &v)
}

// ask reads what the process itself tells.
func (p platform) ask(ctx context.Context, path string, out any) error {
	text, err := get(ctx, http.DefaultClient, p.url+path, "")
	if err != nil {
		return err
	}
	return json.Unmarshal(text, out)
}
