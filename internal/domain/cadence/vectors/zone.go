package vectors

import (
	"archive/zip"
	"context"
	"fmt"
	"go/build"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"
)

const (
	secondsPerDay = 24 * 60 * 60
	// farthest is more than any zone is away from UTC, in seconds.
	farthest = 26 * 60 * 60
)

// Zone is a time zone as a list of the changes of its clocks from 1990 to 2079.
type Zone struct {
	Name    string
	changes []change
}

// change is an instant from which clocks show something else.
type change struct {
	at            int64 // seconds since 1970 in UTC
	before, after int64 // seconds ahead of UTC
}

// lost reports whether the change leaves something out, which a gap does. It
// shows something twice otherwise.
func (c change) lost() bool { return c.after > c.before }

// readings returns where the time begins that the change leaves out or shows
// twice, its middle, and where it ends.
func (c change) readings() [3]int64 {
	from, to := c.at+min(c.before, c.after), c.at+max(c.before, c.after)
	return [3]int64{from, (from + to) / 2, to}
}

// minuteOf returns the minute of the day of a reading.
func minuteOf(reading int64) int { return int(floor(reading, 60)) - dayOf(reading)*24*60 }

// look finds the changes of a zone by looking at its clock once a day and, where
// it shows another offset than the day before, ever closer.
func look(name string, in *time.Location) *Zone {
	z := &Zone{Name: name}
	at := int64(firstDay-2) * secondsPerDay
	z.changes = append(z.changes, change{at: at, before: offset(in, at), after: offset(in, at)})
	for end := int64(lastDay+2) * secondsPerDay; at < end; at += secondsPerDay {
		now := z.changes[len(z.changes)-1].after
		if offset(in, at) == now {
			continue
		}
		low, high := at-secondsPerDay, at // it shows now at low, and something else at high
		for high-low > 1 {
			if middle := (low + high) / 2; offset(in, middle) == now {
				low = middle
			} else {
				high = middle
			}
		}
		z.changes = append(z.changes, change{high, now, offset(in, high)})
		at = high
	}
	return z
}

func offset(in *time.Location, at int64) int64 {
	_, seconds := time.Unix(at, 0).In(in).Zone()
	return int64(seconds)
}

// reading returns what the clocks show at an instant, in seconds since 1970-01-01.
func (z *Zone) reading(at int64) int64 {
	i := len(z.changes) - 1
	for i > 0 && z.changes[i].at > at {
		i--
	}
	return at + z.changes[i].after
}

// near returns the changes from the last one before a reading to the first one
// after it.
func (z *Zone) near(reading int64) []change {
	from, to := 0, len(z.changes)
	for from+1 < to && z.changes[from+1].at <= reading-farthest {
		from++
	}
	for to > from+1 && z.changes[to-1].at > reading+farthest {
		to--
	}
	return z.changes[from:to]
}

// At returns the instant, in seconds since 1970 in UTC, at which orders of a
// local day fall, given its number and the minute of the day; false when the zone
// left the day out.
//
//   - A time that the clocks show once is that instant.
//   - One that they show twice is the first of both.
//   - One that they do not show, because they went forward, is the instant at
//     which they did, unless that is in another day: then it is the last whole
//     minute before they did, if that is in the day, and else there is no such day.
func (z *Zone) At(number, minute int) (at int64, exists bool) {
	reading := int64(number)*secondsPerDay + int64(minute)*60
	near := z.near(reading)
	for i, c := range near {
		at := reading - c.after
		if at >= c.at && (i+1 == len(near) || at < near[i+1].at) {
			return at, true
		}
	}
	for _, c := range near {
		before, after := c.at+c.before, c.at+c.after // what is shown next, and what is shown in its place
		if reading < before || reading >= after {
			continue
		}
		if dayOf(after) == number {
			return c.at, true
		}
		minute := floor(before-1, 60) * 60
		return minute - c.before, dayOf(minute) == number
	}
	return 0, false
}

// Around returns the days of a span that lie at most so many days beside a change,
// in order.
func (z *Zone) Around(from, to, beside int) []int {
	var list []int
	for _, c := range z.changes[1:] {
		for number := dayOf(c.at) - beside; number <= dayOf(c.at)+beside; number++ {
			if number >= from && number <= to {
				list = append(list, number)
			}
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// TurnsOn returns minutes of a day that clocks leave out or show twice on it: the
// first, one in the middle, and the first one after them.
func (z *Zone) TurnsOn(number int) []int {
	var list []int
	for _, c := range z.changes[1:] {
		for _, reading := range c.readings() {
			if dayOf(reading) == number {
				list = append(list, minuteOf(reading))
			}
		}
	}
	return list
}

// Database is the database of time zones that the Go distribution carries. What
// the machine has may be another version.
type Database struct {
	Version string // of the time zone database, such as 2025c
	File    string // the archive, for ZONEINFO
	Zones   []*Zone
	Places  map[string]*time.Location
}

// distribution returns the folder of the Go distribution, which a program that was built
// with -trimpath does not know.
func distribution() (string, error) {
	if root := build.Default.GOROOT; root != "" {
		return root, nil
	}
	out, err := exec.CommandContext(context.Background(), "go", "env", "GOROOT").Output()
	if err != nil {
		return "", fmt.Errorf("find the Go distribution: %w", err)
	}
	return strings.TrimSpace(string(out)), nil
}

// Open reads the database and looks at every zone.
func Open() (*Database, error) {
	root, err := distribution()
	if err != nil {
		return nil, err
	}
	folder := filepath.Join(root, "lib", "time")
	db := &Database{File: filepath.Join(folder, "zoneinfo.zip"), Places: make(map[string]*time.Location)}
	script, err := os.ReadFile(filepath.Join(folder, "update.bash"))
	if err != nil {
		return nil, err
	}
	version := regexp.MustCompile(`(?m)^DATA=(\S+)$`).FindSubmatch(script)
	if version == nil {
		return nil, fmt.Errorf("%s names no version", folder)
	}
	db.Version = string(version[1])
	if err := db.read(); err != nil {
		return nil, err
	}
	var wait sync.WaitGroup
	work := make(chan string)
	found := make(chan *Zone, len(db.Places))
	for range runtime.GOMAXPROCS(0) {
		wait.Go(func() {
			for name := range work {
				found <- look(name, db.Places[name])
			}
		})
	}
	for name := range db.Places {
		work <- name
	}
	close(work)
	wait.Wait()
	close(found)
	for z := range found {
		db.Zones = append(db.Zones, z)
	}
	slices.SortFunc(db.Zones, func(a, b *Zone) int { return strings.Compare(a.Name, b.Name) })
	return db, nil
}

// read loads every zone. Factory is a placeholder for no zone at all.
func (db *Database) read() error {
	archive, err := zip.OpenReader(db.File)
	if err != nil {
		return err
	}
	defer func() { _ = archive.Close() }() // it was only read
	for _, f := range archive.File {
		if f.FileInfo().IsDir() || f.Name == "Factory" {
			continue
		}
		data, err := fs.ReadFile(archive, f.Name)
		if err != nil {
			return err
		}
		if db.Places[f.Name], err = time.LoadLocationFromTZData(f.Name, data); err != nil {
			return fmt.Errorf("%s: %w", f.Name, err)
		}
	}
	return nil
}

// Zone returns a zone by its name, or nil.
func (db *Database) Zone(name string) *Zone {
	i, found := slices.BinarySearchFunc(db.Zones, name, func(z *Zone, name string) int { return strings.Compare(z.Name, name) })
	if !found {
		return nil
	}
	return db.Zones[i]
}
