package job

import (
	"reflect"
	"testing"
	"time"

	"github.com/riverqueue/river/rivertype"

	"github.com/perennialhq/perennial/internal/base/clock"
)

func TestRetryDelaysGrow(t *testing.T) {
	t.Parallel()
	now := time.Date(2025, time.January, 31, 9, 0, 0, 0, time.UTC)
	tests := []struct {
		name   string
		failed int // times before this one
		want   time.Duration
	}{
		{"the first wait is longer than River's scheduler takes", 0, 10 * time.Second},
		{"waits double", 1, 20 * time.Second},
		{"and double", 3, 80 * time.Second},
		{"up to a limit", 7, 10 * time.Minute},
		{"however often it failed", 1000, 10 * time.Minute},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			row := &rivertype.JobRow{Errors: make([]rivertype.AttemptError, tt.failed)}
			if got := (backoff{clock.NewManual(now)}).NextRetry(row).Sub(now); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

func TestOptionsHaveDefaults(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		o    Options
		want Options
	}{
		{
			"none given", Options{},
			Options{MaxWorkers: 10, PollInterval: time.Second, Cooldown: 50 * time.Millisecond, Timeout: 10 * time.Minute},
		},
		{
			"the cooldown is never longer than the interval", Options{PollInterval: 2 * time.Millisecond, MaxWorkers: 3, Timeout: time.Minute},
			Options{MaxWorkers: 3, PollInterval: 2 * time.Millisecond, Cooldown: 2 * time.Millisecond, Timeout: time.Minute},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := tt.o.withDefaults()
			if got.Log == nil {
				t.Error("no log")
			}
			if got.Log = nil; !reflect.DeepEqual(got, tt.want) {
				t.Errorf("got %+v, want %+v", got, tt.want)
			}
		})
	}
}
