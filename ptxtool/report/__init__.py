"""Results for people: tables, bars and curves as text. Nothing here computes anything about a kernel."""
