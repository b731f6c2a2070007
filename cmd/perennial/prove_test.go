package main

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
)

// A signal ends other commands well. A proof that it cuts short is none.
func TestStoppedProofFails(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithCancel(t.Context())
	stop()
	c := proveCommand{Renewals: 1, Faults: 1, Seed: 1, Database: "sqlite", Out: filepath.Join(t.TempDir(), "proof.md")}
	if err := c.Run(ctx, t.Output()); err == nil || errors.Is(err, context.Canceled) {
		t.Errorf("a proof that was stopped ended with %v", err)
	}
}
