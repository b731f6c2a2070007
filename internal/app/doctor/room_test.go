package doctor

import (
	"math"
	"testing"
)

func TestDiskWithoutRoomIsReported(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	for _, row := range []struct {
		name         string
		little, none uint64
		want         State
	}{
		{"there is room", 0, 0, OK},
		{"there is little", math.MaxUint64, 0, Warning},
		{"there is none", math.MaxUint64, math.MaxUint64, Failed},
	} {
		if got := roomAt(folder, row.little, row.none); got.State != row.want {
			t.Errorf("%s: %+v", row.name, got)
		}
	}
	if got := roomAt(folder+"/none", 0, 0); got.State != Failed {
		t.Errorf("no folder: %+v", got)
	}
}
