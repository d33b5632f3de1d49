// The one SQL store. An adapter brings a driver, a dialect and an error table.
