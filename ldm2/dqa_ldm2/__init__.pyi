# The public names of dqa_ldm2 and their modules.

from dqa_ldm2.building import build_memory as build_memory
from dqa_ldm2.building import refine_memory as refine_memory
from dqa_ldm2.deciders import Ldm2Decider as Ldm2Decider
from dqa_ldm2.explorable import Explorable as Explorable
from dqa_ldm2.explorable import Explored as Explored
from dqa_ldm2.explorable import WorldExplorable as WorldExplorable
from dqa_ldm2.files import export_memory as export_memory
from dqa_ldm2.formation import FormationReport as FormationReport
from dqa_ldm2.formation import Indexer as Indexer
from dqa_ldm2.formation import ModelUse as ModelUse
from dqa_ldm2.formation import add_subtrajectory as add_subtrajectory
from dqa_ldm2.formation import form_memory as form_memory
from dqa_ldm2.memory import Memory as Memory
from dqa_ldm2.memory import open_memory as open_memory
from dqa_ldm2.records import Origin as Origin
from dqa_ldm2.records import Remembered as Remembered
from dqa_ldm2.records import State as State
from dqa_ldm2.records import StateAction as StateAction
from dqa_ldm2.refinement import RefinedGoal as RefinedGoal
from dqa_ldm2.refinement import Refinement as Refinement
from dqa_ldm2.refinement import RefinementReport as RefinementReport
from dqa_ldm2.replies import Imitation as Imitation
from dqa_ldm2.replies import Recall as Recall
from dqa_ldm2.settings import Ldm2Settings as Ldm2Settings
from dqa_ldm2.settings import RefiningSettings as RefiningSettings
from dqa_ldm2.situation import Situation as Situation
