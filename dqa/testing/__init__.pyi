# The public names of dqa.testing and their modules.

from dqa.testing.containers import SERVERS as SERVERS
from dqa.testing.containers import run_container as run_container
from dqa.testing.databases import DatabaseCreator as DatabaseCreator
from dqa.testing.databases import ServerStarter as ServerStarter
from dqa.testing.decisions import Asker as Asker
from dqa.testing.decisions import QuestionMaker as QuestionMaker
from dqa.testing.decisions import assert_choice as assert_choice
from dqa.testing.models import PreparedReplies as PreparedReplies
from dqa.testing.models import Reply as Reply
from dqa.testing.models import Request as Request
from dqa.testing.models import answer as answer
from dqa.testing.models import query as query
