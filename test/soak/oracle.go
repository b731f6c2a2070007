package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"

	"github.com/perennialhq/perennial/internal/base/clock"
)

// oracleCases is how many cases of each kind the platform's library judges.
const oracleCases = 10_000

// oracle has the platform's official library judge new cases, and compares. The library
// needs Node.js and is downloaded: without either the part is skipped.
func oracle(ctx context.Context) (string, error) {
	for _, name := range []string{"node", "npm"} {
		if _, err := exec.LookPath(name); err != nil {
			text := "Skipped: " + name + " is not installed.\n"
			fmt.Print(text)
			return text, nil
		}
	}
	if _, err := run(ctx, "npm", "ci", "--prefix", "test/oracle", "--ignore-scripts", "--no-audit", "--no-fund"); err != nil {
		return "", err
	}
	dir, err := os.MkdirTemp("", "oracle")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // a temporary folder
	seed := strconv.FormatInt(clock.System{}.Now().Unix(), 10)
	cases, err := output(ctx, "node", "test/oracle/generate.mjs", strconv.Itoa(oracleCases), seed)
	if err != nil {
		return "", err
	}
	file := filepath.Join(dir, "cases.jsonl")
	if err := os.WriteFile(file, []byte(cases), 0o600); err != nil {
		return "", err
	}
	if _, err := run(ctx, "go", "test", "-count=1", "-v", "-run", "OfficialLibrary", "./test/oracle", "-args", "-cases", file); err != nil {
		return "", fmt.Errorf("seed %s: %w", seed, err)
	}
	return fmt.Sprintf("%d cases of each of five kinds, seed %s: the library and the service agree on all.\n", oracleCases, seed), nil
}
