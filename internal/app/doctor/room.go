package doctor

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/perennialhq/perennial/internal/store"
)

// Free space of the disk with the database, in bytes, below which the check warns or fails.
const (
	littleRoom = 2 << 30
	noRoom     = 200 << 20
)

// errUnknownRoom says that this system does not say how much room there is.
var errUnknownRoom = errors.New("this system does not say how much space is free")

// room checks the disk of a SQLite file.
func room(_ context.Context, c *checkup) Finding {
	path, sqlite, err := store.SQLitePath(c.Settings.Database.Data.Database)
	switch {
	case err != nil:
		return failed("check PERENNIAL_DATABASE", "%v", err)
	case !sqlite:
		return notChecked("PostgreSQL does not say how much space its disk has: watch the disk of its machine")
	}
	return roomAt(filepath.Dir(path), littleRoom, noRoom)
}

func roomAt(folder string, little, none uint64) Finding {
	const do = "make room, or move the database to a larger disk"
	free, err := freeBytes(folder)
	switch {
	case errors.Is(err, errUnknownRoom):
		return notChecked("%v", err)
	case err != nil:
		return failed("check the folder of PERENNIAL_DATABASE", "%v", err)
	case free < none:
		return failed(do, "%s free in %s", bytesText(free), folder)
	case free < little:
		return warning(do, "%s free in %s", bytesText(free), folder)
	}
	return ok("%s free in %s", bytesText(free), folder)
}

func bytesText(n uint64) string {
	const mega = 1 << 20
	if n < 10<<30 {
		return fmt.Sprintf("%d MiB", n/mega)
	}
	return fmt.Sprintf("%d GiB", n>>30)
}
