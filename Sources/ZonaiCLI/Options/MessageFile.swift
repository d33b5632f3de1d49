import ZonaiCore
import ZonaiJSON
import ZonaiSQL

/// A message as people write it into a file: the message of a request, by itself.
enum MessageFile {
  static func read(_ file: String) throws(CommandFailure) -> PushMessage {
    let json: JSON
    do throws(CommandFailure) {
      json = try TextFile.json(try TextFile.read(file, as: "the message file"), file: file)
    } catch {
      throw CommandFailure("message", error.sentence, exitCode: error.exitCode)
    }
    do throws(FieldFault) {
      return try PushMessage(FieldReader(json, document: file, fields: PushMessage.fields))
    } catch {
      throw CommandFailure("message", error.sentence, exitCode: .refused)
    }
  }
}
