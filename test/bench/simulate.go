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
	contracts := flags.Int("contracts", 0, "contracts that are due")
	due := flags.Int64("due", 0, "when they are due, in Unix seconds")
	if err := flags.Parse(args); err != nil {
		return err
	}
	sim, err := simulator.New(simulator.Options{
		AppSecret: appSecret, CompletionDelay: -1, AllowHTTPWebhooks: true, CostMaximum: 1e9, CostRestore: 1e9,
	})
	if err != nil {
		return err
	}
	if err := stock(sim, *contracts, time.Unix(*due, 0)); err != nil {
		return err
	}
	mux := http.NewServeMux()
	mux.Handle("/", sim.Handler())
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

// stock makes the stores and their contracts.
func stock(sim *simulator.Simulator, contracts int, due time.Time) error {
	zone, err := process.NoonZone(clock.System{}.Now())
	if err != nil {
		return err
	}
	var variants []int64
	for i := range shops {
		if err := sim.AddShop(simulator.ShopSpec{Domain: shopDomain(i), Token: shopToken(i), TimeZone: zone.String()}); err != nil {
			return err
		}
		made, err := sim.AddProduct(simulator.ProductSpec{Shop: shopDomain(i), Title: "Coffee", Variants: []simulator.VariantSpec{{Title: "250 g", Price: "9.90"}}})
		if err != nil {
			return err
		}
		variants = append(variants, made[0].ID)
	}
	for i := range contracts {
		_, err := sim.Checkout(simulator.ContractSpec{
			Shop: shopDomain(i % shops), Customer: simulator.CustomerSpec{Email: fmt.Sprintf("customer%d@example.com", i), FirstName: "Ada", LastName: strconv.Itoa(i)},
			CreatedAt: due.AddDate(0, -1, 0), NextBillingDate: due, Billing: simulator.PolicySpec{Interval: "MONTH", IntervalCount: 1},
			Lines: []simulator.LineSpec{{VariantID: variants[i%shops], Quantity: 2}},
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
	url string
	pid int
	end func()
}

// startPlatform runs this program again as the platform.
func startPlatform(ctx context.Context, contracts int, due time.Time) (platform, error) {
	self, err := os.Executable()
	if err != nil {
		return platform{}, err
	}
	cmd := exec.CommandContext(ctx, self, "simulator", "-contracts", strconv.Itoa(contracts), "-due", strconv.FormatInt(due.Unix(), 10)) //nolint:gosec // ourselves
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
	return platform{line.Text(), cmd.Process.Pid, end}, nil
}

// verdict asks what the platform's books say.
func (p platform) verdict(ctx context.Context) (verdict, error) {
	var v verdict
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, p.url+"/verdict", nil)
	if err != nil {
		return v, err
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return v, err
	}
	defer res.Body.Close()
	return v, json.NewDecoder(res.Body).Decode(&v)
}
