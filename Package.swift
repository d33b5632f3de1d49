// swift-tools-version: 6.2
import PackageDescription

// Complete concurrency checking comes with the Swift 6 language mode; a warning fails the build.
let strict: [SwiftSetting] = [
  .treatAllWarnings(as: .error),
  .enableUpcomingFeature("ExistentialAny"),
]

let package = Package(
  name: "zonai",
  platforms: [.macOS(.v15)],
  products: [
    .executable(name: "zonai", targets: ["zonai"]),
    .library(name: "ZonaiCore", targets: ["ZonaiCore"]),
    .library(name: "ZonaiSQLite", targets: ["ZonaiSQLite"]),
    .library(name: "ZonaiPostgres", targets: ["ZonaiPostgres"]),
    .library(name: "ZonaiMySQL", targets: ["ZonaiMySQL"]),
    .library(name: "ZonaiTransports", targets: ["ZonaiTransports"]),
    .library(name: "ZonaiSimulator", targets: ["ZonaiSimulator"]),
    .library(name: "ZonaiTestKit", targets: ["ZonaiTestKit"]),
  ],
  targets: [
    // C libraries. The names carry the package's, since two packages with one module name cannot be built together.
    .systemLibrary(
      name: "CZonaiSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"]), .brew(["sqlite3"])]),
    .systemLibrary(
      name: "CZonaiPostgres", pkgConfig: "libpq", providers: [.apt(["libpq-dev"]), .brew(["libpq"])]),
    .systemLibrary(
      name: "CZonaiMySQL", pkgConfig: "mysqlclient",
      providers: [.apt(["default-libmysqlclient-dev", "libmariadb-dev-compat"]), .brew(["mysql-client"])]),
    .systemLibrary(
      name: "CZonaiCurl", pkgConfig: "libcurl",
      providers: [.apt(["libcurl4-openssl-dev"]), .brew(["curl"])]),
    .systemLibrary(
      name: "CZonaiOpenSSL", pkgConfig: "openssl", providers: [.apt(["libssl-dev"]), .brew(["openssl@3"])]),
    .systemLibrary(
      name: "CZonaiNGHTTP2", pkgConfig: "libnghttp2",
      providers: [.apt(["libnghttp2-dev"]), .brew(["libnghttp2"])]),

    .systemLibrary(name: "CZonaiThreads"),

    // Arrows only point down.
    .target(name: "ZonaiThreads", dependencies: ["CZonaiThreads"], swiftSettings: strict),
    .target(name: "ZonaiCore", dependencies: ["ZonaiThreads"], swiftSettings: strict),
    .target(name: "ZonaiJSON", swiftSettings: strict),
    .target(name: "ZonaiSQL", dependencies: ["ZonaiCore", "ZonaiJSON"], swiftSettings: strict),
    .target(
      name: "ZonaiSQLite", dependencies: ["ZonaiSQL", "CZonaiSQLite", "ZonaiCore", "ZonaiJSON", "ZonaiThreads"],
      swiftSettings: strict),
    .target(
      name: "ZonaiPostgres", dependencies: ["ZonaiSQL", "CZonaiPostgres", "ZonaiCore", "ZonaiJSON", "ZonaiThreads"],
      swiftSettings: strict),
    .target(
      name: "ZonaiMySQL", dependencies: ["ZonaiSQL", "CZonaiMySQL", "ZonaiCore", "ZonaiJSON", "ZonaiThreads"],
      swiftSettings: strict),
    .target(
      name: "ZonaiHTTP", dependencies: ["ZonaiThreads", "CZonaiCurl", "CZonaiOpenSSL", "CZonaiNGHTTP2"],
      swiftSettings: strict),
    .target(
      name: "ZonaiTransports", dependencies: ["ZonaiHTTP", "ZonaiCore", "ZonaiJSON", "CZonaiOpenSSL"],
      swiftSettings: strict),
    .target(
      name: "ZonaiSimulator", dependencies: ["ZonaiHTTP", "ZonaiJSON", "CZonaiOpenSSL"], swiftSettings: strict),
    .target(name: "ZonaiTestKit", dependencies: ["ZonaiCore"], swiftSettings: strict),
    .target(
      name: "ZonaiCLI",
      dependencies: [
        "ZonaiSQLite", "ZonaiPostgres", "ZonaiMySQL", "ZonaiTransports", "ZonaiSimulator", "ZonaiHTTP", "ZonaiCore",
        "ZonaiJSON", "ZonaiSQL", "ZonaiThreads", "CZonaiSQLite",
      ],
      swiftSettings: strict),
    .executableTarget(name: "zonai", dependencies: ["ZonaiCLI"], swiftSettings: strict),

    // The benchmark's other end; see docs/benchmark.md.
    .executableTarget(
      name: "zonai-responder", dependencies: ["ZonaiHTTP", "CZonaiOpenSSL"], swiftSettings: strict),
    .executableTarget(
      name: "zonai-benchmark",
      dependencies: [
        "ZonaiTransports", "ZonaiSQLite", "ZonaiPostgres", "ZonaiMySQL", "CZonaiOpenSSL", "CZonaiSQLite",
        "CZonaiPostgres", "CZonaiMySQL",
      ], swiftSettings: strict),

    // Where tests find the database servers that Scripts/test started, and how they start more.
    .target(
      name: "ZonaiTestServers", dependencies: ["ZonaiThreads"], path: "Tests/ZonaiTestServers", swiftSettings: strict),

    .testTarget(
      name: "ZonaiCoreTests", dependencies: ["ZonaiCore", "ZonaiTestKit", "ZonaiThreads"], swiftSettings: strict),

    .testTarget(
      name: "ZonaiHTTPTests", dependencies: ["ZonaiHTTP", "ZonaiThreads", "CZonaiNGHTTP2", "CZonaiOpenSSL"],
      swiftSettings: strict),
    .testTarget(
      name: "ZonaiCLITests",
      dependencies: [
        "ZonaiCLI", "ZonaiCore", "ZonaiSQLite", "ZonaiTransports", "ZonaiSimulator", "ZonaiTestServers", "ZonaiThreads",
        "ZonaiJSON", "CZonaiSQLite", "zonai",
      ], swiftSettings: strict),
    .testTarget(name: "ZonaiTestKitTests", dependencies: ["ZonaiTestKit", "ZonaiCore"], swiftSettings: strict),
    // Sees what packages that adopt Zonai see, and no more.
    .testTarget(
      name: "ZonaiAdopterTests", dependencies: ["ZonaiTestKit", "ZonaiCore"], packageAccess: false,
      swiftSettings: strict),
    .testTarget(name: "ZonaiThreadsTests", dependencies: ["ZonaiThreads"], swiftSettings: strict),
    .testTarget(name: "ZonaiJSONTests", dependencies: ["ZonaiJSON"], swiftSettings: strict),
    .testTarget(
      name: "ZonaiTransportsTests",
      dependencies: [
        "ZonaiTransports", "ZonaiCore", "ZonaiHTTP", "ZonaiJSON", "ZonaiSimulator", "ZonaiSQLite", "ZonaiTestKit",
        "ZonaiThreads",
      ], swiftSettings: strict),
    .testTarget(
      name: "ZonaiSQLTests", dependencies: ["ZonaiSQL", "ZonaiCore", "ZonaiJSON", "ZonaiThreads"], swiftSettings: strict
    ),
    .testTarget(
      name: "ZonaiSQLiteTests",
      dependencies: ["ZonaiSQLite", "ZonaiSQL", "ZonaiCore", "ZonaiThreads", "ZonaiTestKit", "CZonaiSQLite"],
      swiftSettings: strict),
    .testTarget(
      name: "ZonaiPostgresTests",
      dependencies: [
        "ZonaiPostgres", "ZonaiSQL", "ZonaiCore", "ZonaiThreads", "ZonaiTestKit", "ZonaiTestServers", "CZonaiPostgres",
      ],
      swiftSettings: strict),
    .testTarget(
      name: "ZonaiMySQLTests",
      dependencies: [
        "ZonaiMySQL", "ZonaiSQL", "ZonaiCore", "ZonaiThreads", "ZonaiTestKit", "ZonaiTestServers", "CZonaiMySQL",
      ],
      swiftSettings: strict),
    .testTarget(name: "ZonaiHTTPServerTests", dependencies: ["ZonaiHTTP"], swiftSettings: strict),
    .testTarget(
      name: "ZonaiSimulatorTests",
      dependencies: ["ZonaiSimulator", "ZonaiHTTP", "ZonaiJSON", "ZonaiThreads", "CZonaiOpenSSL"], swiftSettings: strict
    ),
    .testTarget(
      name: "ZonaiSystemTests",
      dependencies: [
        "ZonaiCore", "ZonaiSQLite", "ZonaiTransports", "ZonaiSimulator", "ZonaiHTTP", "ZonaiJSON", "ZonaiThreads",
        "ZonaiTestServers", "CZonaiSQLite", "zonai",
      ], swiftSettings: strict),
  ],
  swiftLanguageModes: [.v6]
)
